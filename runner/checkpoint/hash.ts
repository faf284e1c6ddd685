// SHA-256 of files, in bounded memory.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Lower-case hex. Throws what the file system throws. */
export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }))
    hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
