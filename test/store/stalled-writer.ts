// A process to kill: puts an object whose stream stops half-way, says so, and waits for its end.
// usage: node stalled-writer.ts URL KEY ANNOUNCED_BYTES SENT_BYTES
import { Readable } from 'node:stream';

import { openStore } from '../../store/open.ts';

const [url = '', key = '', announced = '', sent = ''] = process.argv.slice(2);
const chunk = Buffer.alloc(1 << 16, 'x');

async function* chunks() {
  for (let at = 0; at < Number(sent); at += chunk.byteLength) yield chunk;
  process.stdout.write('stalled\n');
  await new Promise(() => undefined);
}

setInterval(() => undefined, 1 << 30); // an unresolved promise alone would let the process end
await openStore(url, process.env).put(key, {
  stream: Readable.from(chunks(), { objectMode: false }),
  size: Number(announced),
});
