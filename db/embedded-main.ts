// Process entry: the embedded Postgres of one data directory, for as long as this process lives.
// usage: node db/embedded-main.ts DATA_DIR. Prints one line of JSON, {"url": …}, when it is ready (and
// sends it over IPC if forked). Stops the server on SIGTERM or SIGINT, and when its parent goes:
// the IPC channel or a piped standard input closes. Ends with 1 if the server ends by itself.
import { fstatSync } from 'node:fs';
import { startEmbedded } from './embedded.ts';

const dataDir = process.argv[2];
if (dataDir === undefined) {
  console.error('usage: node db/embedded-main.ts DATA_DIR');
  process.exit(2);
}

const stopAsked = new Promise<'stop'>((stop) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop('stop'));
  if (process.send !== undefined) process.on('disconnect', () => stop('stop'));
  else if (fstatSync(0).isFIFO() || fstatSync(0).isSocket())
    process.stdin.on('end', () => stop('stop')).resume();
});

try {
  const server = await startEmbedded(dataDir);
  console.log(JSON.stringify({ url: server.url }));
  process.send?.({ url: server.url });
  const why = await Promise.race([stopAsked, server.exited().then(() => 'exited' as const)]);
  if (why === 'exited') console.error('the Postgres server ended by itself');
  await server.stop();
  process.exit(why === 'exited' ? 1 : 0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
