// millrace serve
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { chosenDataDir } from '../data-dir.ts';
import { exitCodes } from '../exit-code.ts';
import { withOneMachine } from '../serve/one-machine.ts';
import { UsageError } from '../user-error.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the whole service on this machine: Postgres, API, object store, one runner',
  details:
    'DATABASE_URL replaces the Postgres, STORE_URL (s3://bucket/prefix with S3_ENDPOINT, S3_ACCESS_KEY_ID,\n' +
    'S3_SECRET_ACCESS_KEY) the object store in the data directory. What dies is started again. Ctrl-C stops everything.',
  arguments: [],
  flags: {
    ...dataDirFlag,
    port: { type: 'string', value: 'PORT', help: 'port of the API; 0 takes a free one (default: 8484)' },
    host: { type: 'string', value: 'HOST', help: 'address to listen on (default: 127.0.0.1)' },
    'no-runner': { type: 'boolean', help: 'start no runner: jobs wait for runners elsewhere' },
  },
  async run(given, interrupt, hurry) {
    const dir = chosenDataDir(given);
    const options = {
      dir,
      host: given.text('host') ?? '127.0.0.1',
      port: portOf(given.text('port')),
      withRunner: !given.on('no-runner'),
      say: (text: string) => console.log(text),
    };
    // Seconds, the first time more; a log has no use for it.
    if (process.stdout.isTTY) console.log(`starting in ${dir.root}`);
    await withOneMachine(options, interrupt, hurry, async ({ url }) => {
      console.log(`millrace listens on ${url}`);
      console.log(`admin key in ${dir.adminKey}, logs in ${dir.logs}. Ctrl-C stops everything.`);
      await aborted(interrupt);
      console.log('stopping');
    }).catch((error: unknown) => {
      if (!interrupt.aborted) throw error;
    });
    return exitCodes.succeeded;
  },
};

function portOf(text = '8484'): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--port ${text}: give a number from 0 to 65535`);
  return Number(text);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
