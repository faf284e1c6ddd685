// `make small-world`: the whole cascade on this machine, with nothing prepared. Generates the world, starts the service, trains the
// reward model and the cascade, prints the matrix, writes a report, stops everything.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import { dataDirAt } from '../../cli/data-dir.ts';
import { exitCodes } from '../../cli/exit-code.ts';
import { explainError } from '../../cli/explain-error.ts';
import { clock } from '../../cli/format.ts';
import type { Screen } from '../../cli/screen.ts';
import { screenOn } from '../../cli/screen.ts';
import { withOneMachine } from '../../cli/serve/one-machine.ts';
import { cancelLeftJobs, refuseForeignServices } from '../../cli/serve/own-services.ts';
import { gainsOf, gainTable, matrixTable } from './report/matrix.ts';
import { writeReport } from './report/write.ts';
import { recordOfJob } from './run/history.ts';
import type { Run } from './run/jobs.ts';
import { rewardModelOf, trainedCascade } from './run/jobs.ts';
import { worldFiles } from './run/specs.ts';

const root = resolve(import.meta.dirname, '../..');

interface Options {
  readonly seed: number;
  readonly dataDir: string;
  /** Another cascade than the repository's; its data is there. */
  readonly spec: string | undefined;
}

function optionsOf(words: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...words],
    options: { seed: { type: 'string' }, 'data-dir': { type: 'string' }, spec: { type: 'string' } },
  });
  const seed = Number(values.seed || '1');
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`--seed ${values.seed}: give a whole number from 0`);
  const home = join(process.env['MILLRACE_DATA'] ?? join(root, '.millrace'), 'small-world');
  return { seed, dataDir: values['data-dir'] ?? home, spec: values.spec };
}

async function main(words: readonly string[], interrupt: AbortSignal, hurry: AbortSignal): Promise<number> {
  const { seed, dataDir, spec } = optionsOf(words);
  refuseForeignServices(process.env, 'the small world');
  const startedAt = performance.now();
  const screen = screenOn(process.stdout);
  const say = (text: string): void => screen.line(text);
  const dir = dataDirAt(dataDir);
  if (spec === undefined) await generate(say, interrupt);
  say(`starting Postgres, the API and a runner in ${dir.root}`);
  const machine = { dir, host: '127.0.0.1', port: 0, withRunner: true, say };
  await withOneMachine(machine, interrupt, hurry, async (address) => {
    const client = createClient(address);
    await cancelLeftJobs(client);
    // Named by the moment: every run trains anew.
    const run: Run = {
      ...{ client, screen, interrupt, seed },
      ...{ world: worldFiles(spec), run: String(Date.now()) },
    };
    const job = await trainedCascade(run, await rewardModelOf(run));
    await show(client, screen, job, {
      folder: join(dir.root, `report-seed-${seed}`),
      seed,
      seconds: (performance.now() - startedAt) / 1000,
    });
  });
  say(`took ${clock((performance.now() - startedAt) / 1000)}`);
  return exitCodes.succeeded;
}

async function show(
  client: Client,
  screen: Screen,
  job: string,
  { folder, seed, seconds }: { readonly folder: string; readonly seed: number; readonly seconds: number },
): Promise<void> {
  const record = await recordOfJob(client, job);
  const file = writeReport(folder, { title: `The small world, seed ${seed}`, job, seconds }, record);
  const lines = ['', ...matrixTable(record), '', ...gainTable(gainsOf(record)), '', `report ${file}`];
  for (const line of lines) screen.line(line);
}

async function generate(say: (text: string) => void, signal: AbortSignal): Promise<void> {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'generate.ts')], { signal });
  say(`generated ${join(import.meta.dirname, 'data')}`);
}

const [interrupt, hurry] = [new AbortController(), new AbortController()];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () =>
    (interrupt.signal.aborted ? hurry : interrupt).abort(new Error(`interrupted by ${signal}`)),
  );

process.exit(
  await main(process.argv.slice(2), interrupt.signal, hurry.signal).catch((error: unknown) => {
    if (!interrupt.signal.aborted) {
      console.error(`small-world: ${explainError(error)}`);
      return exitCodes.failed;
    }
    console.log('interrupted; everything that was started has been stopped');
    return exitCodes.interrupted;
  }),
);
