// make accept-distill: the small world's cascade with three seeds, then distillation from the best checkpoint of every domain. Every
// regression that held-out tasks show (paired interval below 0) must come back by 80 %; beside it stands more reinforcement of as many
// rollouts. Resumable: jobs are found by their labels (commit, seed, part). Figures go to docs/results/<commit>/accept-distill.{json,md}.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { screenOn } from '../../cli/screen.ts';
import { worldFiles } from '../../examples/small-world/run/specs.ts';
import { distilledPassed, verdicts, writeDistilled } from './distill-results.ts';
import type { DistilledSeed } from './distill-seed.ts';
import { distilledSeed } from './distill-seed.ts';
import { runInterruptible } from './interruptible.ts';
import { onOneMachine, seedsOf } from './on-one-machine.ts';
import { commitNow } from './results.ts';

const root = resolve(import.meta.dirname, '../..');

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    'data-dir': { type: 'string', default: join(root, '.millrace/accept-distill') },
    // Of a run of this commit that was made elsewhere: its cascades are found, not trained again.
    run: { type: 'string' },
  },
});

async function main(interrupt: AbortSignal, hurry: AbortSignal): Promise<number> {
  const screen = screenOn(process.stdout);
  const dataDir = resolve(given['data-dir']);
  const results: DistilledSeed[] = [];
  await onOneMachine({ dataDir, screen, interrupt, hurry }, async (client) => {
    for (const seed of seedsOf(given.seeds)) {
      const run = { client, screen, interrupt, seed, world: worldFiles(), run: given.run ?? commitNow() };
      results.push(await distilledSeed(run, join(dataDir, 'relapse')));
      for (const line of verdicts([results.at(-1)!])) screen.line(line);
    }
  });
  const file = writeDistilled(results);
  for (const line of verdicts(results)) screen.line(line);
  screen.line(`figures in ${file}`);
  return distilledPassed(results) ? 0 : 1;
}

await runInterruptible(main);
