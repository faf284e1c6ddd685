// make accept-distill: the small world's cascade with three seeds, then distillation from the best checkpoint of every domain. Every
// regression that held-out tasks show (paired interval below 0) must come back by 80 %; beside it stands more reinforcement of as many
// rollouts. Resumable: jobs are found by their labels (commit, seed, part). Figures go to docs/results/<commit>/accept-distill.{json,md}.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { createClient } from '../../api/client.ts';
import { dataDirAt } from '../../cli/data-dir.ts';
import { screenOn } from '../../cli/screen.ts';
import { withOneMachine } from '../../cli/serve/one-machine.ts';
import { refuseForeignServices } from '../../cli/serve/own-services.ts';
import { worldFiles } from '../../examples/small-world/run/specs.ts';
import { distilledPassed, verdicts, writeDistilled } from './distill-results.ts';
import type { DistilledSeed } from './distill-seed.ts';
import { distilledSeed } from './distill-seed.ts';
import { runInterruptible } from './interruptible.ts';
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
  refuseForeignServices(process.env, 'the acceptance run');
  const screen = screenOn(process.stdout);
  const say = (text: string): void => screen.line(text);
  const generator = join(root, 'examples/small-world/generate.ts');
  await promisify(execFile)(process.execPath, [generator], { signal: interrupt });
  const dir = dataDirAt(given['data-dir']);
  say(`its state is in ${dir.root}: started again it goes on where it was`);
  const results: DistilledSeed[] = [];
  await withOneMachine(
    { dir, host: '127.0.0.1', port: 0, withRunner: true, say },
    interrupt,
    hurry,
    async (address) => {
      const client = createClient(address);
      for (const seed of given.seeds.split(',').map(Number)) {
        const run = { client, screen, interrupt, seed, world: worldFiles(), run: given.run ?? commitNow() };
        results.push(await distilledSeed(run, join(dir.root, 'relapse')));
        for (const line of verdicts([results.at(-1)!])) say(line);
      }
    },
  );
  const file = writeDistilled(results);
  for (const line of verdicts(results)) say(line);
  say(`figures in ${file}`);
  return distilledPassed(results) ? 0 : 1;
}

await runInterruptible(main);
