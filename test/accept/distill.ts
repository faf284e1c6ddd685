// `make accept-distill`: stories260K, damaged by a nat a token of its own stories, is distilled back from what it was, on its own answers
// alone: once by what the teacher says of the sampled tokens (MOPD), once by whole distributions. Each must take at least 90 % of the
// reverse KL within 10 minutes on 2 cores. Figures and curves go to docs/results/<commit>/accept-distill.json.
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { distilDamagedStories, storiesStages } from '../support/damaged-stories.ts';
import type { DistilledStories } from '../support/damaged-stories.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';
import { writeResults } from './results.ts';

const goal = 0.9;
const limitSeconds = 10 * 60;

type Way = keyof typeof storiesStages;

async function run(
  way: Way,
): Promise<{ figures: DistilledStories; curve: readonly number[]; passed: boolean }> {
  const runtime = createRuntime();
  const curve: number[] = [];
  try {
    const figures = await distilDamagedStories(runtime, {
      directory: testData('stories260K/hf'),
      seed: 1,
      stage: storiesStages[way],
      onStep: (step, { metrics }) => {
        curve.push(metrics['kl']!);
        if (step % 10 === 0) console.log(`${way}, step ${step}: ${metrics['kl']!.toFixed(4)} nats a token`);
      },
    });
    const { before, after, seconds } = figures;
    const fell = 1 - after / before;
    const passed = fell >= goal && seconds <= limitSeconds;
    console.log(
      `${way}: KL(policy || original) ${before.toFixed(4)} -> ${after.toFixed(4)}, ${(100 * fell).toFixed(1)} % less, in ${seconds.toFixed(0)} s: ${passed ? 'passed' : 'FAILED'}`,
    );
    return { figures, curve, passed };
  } finally {
    runtime[Symbol.dispose]();
  }
}

async function main(): Promise<number> {
  if (testDataDir === undefined) {
    console.error(noTestData);
    return 1;
  }
  const runs = { policy_gradient: await run('policy_gradient'), divergence: await run('divergence') };
  console.log(
    writeResults('accept-distill', { goal, limit_seconds: limitSeconds, stages: storiesStages, ...runs }),
  );
  return Object.values(runs).every(({ passed }) => passed) ? 0 : 1;
}

process.exitCode = await main();
