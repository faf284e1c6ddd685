// Published models against stored numbers of an independent float64 implementation.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readModelWeights } from '../../../runner/checkpoint/safetensors.ts';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { parseModelConfig } from '../../../runner/engine/models/config.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';
import { leakCheckedRuntime, reference, sequence } from './support.ts';

const runtime = leakCheckedRuntime();

const readJson = async (file: string): Promise<unknown> =>
  JSON.parse(await readFile(testData(file), 'utf8')) as unknown;

async function load(directory: string): Promise<Learner> {
  const config = parseModelConfig(await readJson(`${directory}/config.json`), `${directory}/config.json`);
  return await Learner.create(runtime, config, await readModelWeights(testData(directory)));
}

describe.skipIf(testDataDir === undefined)(`goldens (skipped if ${noTestData})`, () => {
  test('stories260K (head size 8, grouped queries, tied): log-probabilities within 1e-4', async () => {
    const golden = (await readJson('stories260K/hf/golden.json')) as {
      ids: number[];
      token_logprobs: number[];
      mean_nll: number;
    };
    const learner = await load('stories260K/hf');
    try {
      const { logProbs } = await learner.score(
        [
          sequence(
            golden.ids,
            golden.ids.map(() => 0),
          ),
        ],
        { temperature: 1 },
      );
      expect(golden.token_logprobs.length).toBe(199);
      golden.token_logprobs.forEach((expected, t) =>
        expect(Math.abs(logProbs[0]![t + 1]! - expected)).toBeLessThan(1e-4),
      );
      const nll = -logProbs[0]!.reduce((sum, logProb) => sum + logProb, 0) / 199;
      expect(nll).toBeCloseTo(golden.mean_nll, 4);
    } finally {
      learner[Symbol.dispose]();
    }
  });

  test('digit-completion (BF16): log-probabilities of every next token equal those of the stored logits', async () => {
    const { cases } = (await readJson('digit-completion/golden.json')) as {
      cases: { ids: number[]; last_logits: number[] }[];
    };
    const learner = await load('digit-completion');
    try {
      for (const { ids, last_logits } of cases) {
        const nexts = last_logits.map((_, next) =>
          sequence(
            [...ids, next],
            [...ids, next].map(() => 0),
            ids.length,
          ),
        );
        const { logProbs } = await learner.score(nexts, { temperature: 1 });
        const normaliser = Math.log(last_logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
        last_logits.forEach((logit, next) => {
          const expected = logit - normaliser;
          expect(Math.abs(logProbs[next]![ids.length]! / expected - 1)).toBeLessThan(1e-3);
        });
        // The reference that the gradient checks rest on reads the same logits.
        const last = reference(learner.config, await learner.namedWeights())
          .logits(ids)
          .at(-1)!;
        last_logits.forEach((logit, next) => expect(last[next]).toBeCloseTo(logit, 5));
      }
    } finally {
      learner[Symbol.dispose]();
    }
  });

  test('digit-completion overfits a small batch', async () => {
    const learner = await load('digit-completion');
    try {
      const ids = [7, 14, 5, 15, 13, 14, 5, 0, 7, 14, 5, 14, 7, 14, 5, 1];
      const batch = Array.from({ length: 4 }, (_, i) =>
        sequence(
          ids.map((id, t) => (t === 0 ? 4 + i : id)),
          ids.map((_, t) => (t < 8 ? 0 : 1 / 32)),
          8,
        ),
      );
      const losses: number[] = [];
      for (let step = 0; step < 40; step++) {
        const { logProbs } = await learner.forwardBackward(batch, { temperature: 1 });
        losses.push(-logProbs.flatMap((row) => [...row]).reduce((sum, logProb) => sum + logProb, 0) / 32);
        await learner.step({ lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, clipNorm: 1 });
      }
      expect(losses[0]).toBeGreaterThan(2.5);
      expect(losses.at(-1)).toBeLessThan(0.05);
    } finally {
      learner[Symbol.dispose]();
    }
  });
});
