// Sends a model directory to the service, file by file; what is there already is not sent again, and a file whose sending
// broke is sent once more from its start.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ApiError, UnreachableError } from '../../api/client.ts';
import type { Client } from '../../api/client.ts';
import { backoff, pause } from '../../api/client/request.ts';
import type { ModelFile, ModelUpload } from '../../api/contract/model-upload.ts';

export interface Push {
  readonly client: Client;
  readonly directory: string;
  readonly files: readonly ModelFile[];
  /** Hears how many bytes of all files are with the service. */
  readonly onBytes: (done: number) => void;
  readonly signal: AbortSignal;
}

const tries = 5;

/** The finished upload. @throws ApiError, UnreachableError. */
export async function push(asked: Push): Promise<ModelUpload> {
  const { client, files } = asked;
  const upload = await client.beginModelUpload({ files: [...files] });
  const missing = new Set(upload.missing);
  let done = files.filter(({ name }) => !missing.has(name)).reduce((sum, { size }) => sum + size, 0);
  for (const file of files.filter(({ name }) => missing.has(name))) {
    await sendFile(asked, upload.id, file, (sent) => asked.onBytes(done + sent));
    done += file.size;
  }
  return missing.size === 0 ? upload : client.beginModelUpload({ files: [...files] });
}

async function sendFile(
  { client, directory, signal }: Push,
  id: string,
  { name }: ModelFile,
  onSent: (bytes: number) => void,
): Promise<void> {
  for (let failed = 0; ;) {
    const bytes = counted(createReadStream(join(directory, name), { highWaterMark: 1 << 18 }), onSent);
    try {
      await client.sendModelFile(
        id,
        name,
        Readable.toWeb(Readable.from(bytes)) as ReadableStream<Uint8Array>,
        signal,
      );
      return;
    } catch (error) {
      signal.throwIfAborted();
      failed += 1;
      if (failed >= tries || !mayPass(error)) throw error;
    }
    await pause(backoff(failed, 500), signal);
  }
}

async function* counted(
  stream: AsyncIterable<unknown>,
  onSent: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let sent = 0;
  for await (const chunk of stream) {
    yield chunk as Uint8Array;
    sent += (chunk as Uint8Array).byteLength;
    onSent(sent);
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
