// make accept-small-world: the small world over REST with three seeds, then every checkpoint at a stage's end on held-out tasks,
// eight samples each. Every RL stage must raise its own domain by ten points over its start, in every seed. Resumable: jobs are found
// by their labels (commit, seed, part), so a run that was killed goes on where it was. Figures go to
// docs/results/<commit>/accept-small-world.{json,md} with their plots beside them.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { clock } from '../../cli/format.ts';
import { screenOn } from '../../cli/screen.ts';
import type { Screen } from '../../cli/screen.ts';
import type { HeldOut } from '../../examples/small-world/report/comparison.ts';
import { matrixTable, withEvaluations } from '../../examples/small-world/report/matrix.ts';
import { recordOfJob } from '../../examples/small-world/run/history.ts';
import type { Run } from '../../examples/small-world/run/jobs.ts';
import { rewardModelOf, trainedCascade } from '../../examples/small-world/run/jobs.ts';
import { worldFiles } from '../../examples/small-world/run/specs.ts';
import { heldOutCells, stageEnds } from './held-out.ts';
import { runInterruptible } from './interruptible.ts';
import { secondsOf } from './job-seconds.ts';
import { onOneMachine, seedsOf } from './on-one-machine.ts';
import { commitNow } from './results.ts';
import type { SeedResult } from './small-world-results.ts';
import { passed, verdictLines, writeSmallWorld } from './small-world-results.ts';

const root = resolve(import.meta.dirname, '../..');
const limitSeconds = 15 * 60;
/** Of one seed on two quiet cores: what is measured replaces it after the first. */
const expectedSeconds = 40 * 60;

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    'data-dir': { type: 'string', default: join(root, '.millrace/accept-small-world') },
    spec: { type: 'string' },
  },
});

/** Trains one seed, then measures it; whatever is done already is found. */
async function ofSeed(run: Run): Promise<SeedResult> {
  const rewardModel = await rewardModelOf(run);
  const job = await trainedCascade(run, rewardModel);
  const record = await recordOfJob(run.client, job);
  const heldOut: HeldOut[] = [];
  for (const { stage, id } of await stageEnds(run, job))
    heldOut.push({ after: stage, cells: await heldOutCells(run, stage, id, rewardModel) });
  const seconds = await secondsOf(run, job);
  return { seed: run.seed, job, seconds, limitSeconds, record, heldOut };
}

function show(screen: Screen, { seed, record, heldOut, seconds }: SeedResult): void {
  screen.line(`seed ${seed}: the cascade took ${clock(seconds)} of ${clock(limitSeconds)}; held-out tasks:`);
  for (const line of ['', ...matrixTable(withEvaluations(record, heldOut)), '']) screen.line(line);
}

async function main(interrupt: AbortSignal, hurry: AbortSignal): Promise<number> {
  const screen = screenOn(process.stdout);
  const seeds = seedsOf(given.seeds);
  const results: SeedResult[] = [];
  screen.line(`${seeds.length} seeds, about ${clock(seeds.length * expectedSeconds)} on two quiet cores`);
  await onOneMachine({ dataDir: given['data-dir'], screen, interrupt, hurry }, async (client) => {
    const begun = performance.now();
    for (const seed of seeds) {
      const run = { client, screen, interrupt, seed, world: worldFiles(given.spec), run: commitNow() };
      results.push(await ofSeed(run));
      show(screen, results.at(-1)!);
      const left = ((performance.now() - begun) / 1000 / results.length) * (seeds.length - results.length);
      if (left > 0) screen.line(`about ${clock(left)} left`);
    }
  });
  const file = writeSmallWorld(results);
  for (const line of verdictLines(results)) screen.line(line);
  screen.line(`figures in ${file}`);
  return passed(results) ? 0 : 1;
}

await runInterruptible(main);
