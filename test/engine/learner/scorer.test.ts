import { expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { Scorer } from '../../../runner/engine/learner/scorer.ts';
import { parameterLayout } from '../../../runner/engine/models/parameters.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { leakCheckedRuntime, livelyWeights, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const batch = [4, 9, 17].map((length, i) =>
  sequence(
    Array.from({ length }, (_, t) => (i + t * t) % 11),
    Array.from({ length }, () => 0),
    i,
  ),
);

test('scores to the bit as a learner of the same weights does, chunks of long sequences included', async () => {
  for (const options of [{}, { attentionChunk: 8 }]) {
    const learner = await Learner.create(runtime, tinyConfig, livelyWeights(tinyConfig, 3), options);
    const scorer = await Scorer.create(runtime, tinyConfig, livelyWeights(tinyConfig, 3), options);
    try {
      expect(await scorer.score(batch, { temperature: 0.7 })).toEqual(
        await learner.score(batch, { temperature: 0.7 }),
      );
    } finally {
      for (const one of [scorer, learner]) one[Symbol.dispose]();
    }
  }
});

test('holds its weights and no more: no tensor of the size of a gradient or a moment', async () => {
  const config = { ...tinyConfig, vocabSize: 4096, hiddenSize: 64 };
  const bytes = 4 * parameterLayout(config).size;
  const weights = livelyWeights(config, 3);
  const before = process.memoryUsage().arrayBuffers;
  const scorer = await Scorer.create(runtime, config, weights);
  try {
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1.5 * bytes);
  } finally {
    scorer[Symbol.dispose]();
  }
});

/** What no garbage is of. */
function held(): number {
  for (let round = 0; round < 2; round += 1) globalThis.gc!();
  return process.memoryUsage().arrayBuffers;
}

test('scoring takes room for hidden states alone: nothing is kept for a backward that there is not', async () => {
  const config = { ...tinyConfig, layers: 4 };
  const rows = Array.from({ length: 32 }, (_, i) => {
    const ids = Array.from({ length: 64 }, (_, t) => (i + t * t) % 11);
    return sequence(
      ids,
      ids.map(() => 0),
      1,
    );
  });
  const bytesOf = async (model: Learner | Scorer): Promise<number> => {
    const before = held();
    try {
      await model.score(rows, { temperature: 1 });
      return held() - before;
    } finally {
      model[Symbol.dispose]();
    }
  };
  const weights = livelyWeights(config, 3);
  const ofLearner = await bytesOf(await Learner.create(runtime, config, weights));
  const ofScorer = await bytesOf(await Scorer.create(runtime, config, weights));
  expect(ofScorer).toBeLessThan(ofLearner / 2);
});
