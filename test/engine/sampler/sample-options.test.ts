// What the sampler promises of its options on a real model: they hold whatever the batching, and what is learnt from (the
// untruncated log-probability at T) does not depend on them.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModelWeights } from '../../../runner/checkpoint/safetensors.ts';
import { loadParameters } from '../../../runner/engine/learner/parameter-set.ts';
import { parseModelConfig } from '../../../runner/engine/models/config.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import type { Completion, SampleOptions, SampleRequest } from '../../../runner/engine/sampler/completion.ts';
import type { SampledModel } from '../../../runner/engine/sampler/sampled-model.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import { StopStrings } from '../../../runner/engine/sampler/stop-strings.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

const prompts = [Int32Array.of(1), Int32Array.of(1, 403, 407), Int32Array.of(1, 261, 376, 298, 315)];
const requests = (seed = 5): SampleRequest[] =>
  prompts.flatMap((prompt, p) =>
    [0, 1, 2].map((g) => ({ prompt, maxTokens: 24, draw: drawStream(drawKey(seed, 'test', 1), p, g) })),
  );
const tokensOf = (completions: readonly Completion[]) => completions.map(({ tokens }) => [...tokens]);

describe.skipIf(testDataDir === undefined)(
  `sampling options (${testDataDir === undefined ? noTestData : 'stories260K'})`,
  () => {
    let runtime: Runtime;
    let model: SampledModel;
    let tokenizer: Tokenizer;
    beforeAll(async () => {
      runtime = createRuntime();
      const directory = testData('stories260K/hf');
      const config = parseModelConfig(
        JSON.parse(readFileSync(`${directory}/config.json`, 'utf8')),
        directory,
      );
      model = { config, weights: await loadParameters(runtime, config, await readModelWeights(directory)) };
      tokenizer = await Tokenizer.load(directory);
    });
    afterAll(() => {
      model.weights[Symbol.dispose]();
      expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
      runtime[Symbol.dispose]();
    });

    async function generate(options: Partial<SampleOptions>, rows = 512, of = requests()) {
      const sampler = new SlotSampler(runtime, model, { rows, cacheTokens: 1 << 17 });
      try {
        return await sampler.generate(of, { temperature: 1, endIds: [], ...options });
      } finally {
        sampler[Symbol.dispose]();
      }
    }

    it('top-k 1 is greedy, with probability 1 under the sampling distribution', async () => {
      const [greedy, one] = [await generate({ temperature: 0 }), await generate({ topK: 1 })];
      expect(tokensOf(one)).toEqual(tokensOf(greedy));
      for (const { samplingLogProbs } of [...one, ...greedy])
        samplingLogProbs.forEach((logProb) => expect(logProb).toBeCloseTo(0, 6));
      one.forEach(({ logProbs }, i) =>
        logProbs.forEach((logProb, t) => expect(logProb).toBeCloseTo(greedy[i]!.logProbs[t]!, 4)),
      );
    });

    it('limits that exclude nothing draw from the same distribution: log-probabilities agree', async () => {
      const [first] = await generate({ topK: 512, topP: 1, minP: 0 });
      const [plain] = await generate({});
      expect([...first!.tokens]).toEqual([...plain!.tokens]);
      for (const { logProbs, samplingLogProbs, logProbsAtOne } of await generate({ minP: 1e-30 })) {
        logProbs.forEach((logProb, t) => {
          expect(samplingLogProbs[t]).toBeCloseTo(logProb, 4);
          expect(logProbsAtOne[t]).toBeCloseTo(logProb, 4);
        });
      }
    });

    it('draws the same tokens in few slots as in many, also where steps must be drawn again from all words', async () => {
      // Hot enough that more than the 256 sorted words of 512 stay.
      for (const options of [
        { temperature: 0.8, topK: 30, topP: 0.9, minP: 0.02 },
        { temperature: 6, topP: 0.95 },
      ]) {
        const wide = await generate(options);
        expect(tokensOf(await generate(options, 2))).toEqual(tokensOf(wide));
        expect(tokensOf(await generate(options, 4))).toEqual(tokensOf(wide));
      }
    });

    it('a nucleus of more words than are sorted is drawn from in full', async () => {
      const hot = await generate({ temperature: 1000, topP: 0.99 });
      const distinct = new Set(tokensOf(hot).flat());
      // 216 draws from 507 nearly equal words: from 256 alone there would be some 146 distinct ones.
      expect(distinct.size).toBeGreaterThan(160);
      hot.forEach(({ samplingLogProbs }) =>
        samplingLogProbs.forEach((logProb) => expect(Math.abs(logProb + Math.log(507))).toBeLessThan(0.1)),
      );
    });

    it('what is learnt from stays untruncated, unbiased, at T', async () => {
      const options = { temperature: 0.7, topK: 5, logitBias: new Map([[403, 3]]) };
      const truncated = await generate(options);
      const forced = truncated.map(({ tokens }, i) => ({ ...requests()[i]!, tokens }));
      // The same tokens forced one at a time by a bias that leaves no other: their probability at T is the model's own.
      for (const { prompt, tokens } of forced.slice(0, 2)) {
        for (const [t, token] of [...tokens].slice(0, 4).entries()) {
          const request = {
            prompt: Int32Array.from([...prompt, ...tokens.subarray(0, t)]),
            maxTokens: 1,
            draw: () => 0.5,
          };
          const [one] = await generate({ temperature: 0.7, logitBias: new Map([[token, 1000]]) }, 1, [
            request,
          ]);
          const at = truncated.findIndex(({ tokens: those }) => those === tokens);
          expect([...one!.tokens]).toEqual([token]);
          expect(one!.samplingLogProbs[0]).toBeCloseTo(0, 5);
          expect(truncated[at]!.logProbs[t]).toBeCloseTo(one!.logProbs[0]!, 4);
          expect(truncated[at]!.logProbsAtOne[t]).toBeCloseTo(one!.logProbsAtOne[0]!, 4);
        }
      }
    });

    it('a banned word is never drawn, and the next call knows nothing of the bias', async () => {
      const sampler = new SlotSampler(runtime, model);
      try {
        const draw = (logitBias?: ReadonlyMap<number, number>) =>
          sampler.generate(requests(), { temperature: 1, endIds: [], ...(logitBias ? { logitBias } : {}) });
        const free = await draw();
        const word = free[0]!.tokens[0]!;
        expect(tokensOf(await draw(new Map([[word, -100]]))).flat()).not.toContain(word);
        expect(await draw(new Map([[free[0]!.tokens[1]!, -100]]))).not.toEqual(free);
        expect(await draw()).toEqual(free);
      } finally {
        sampler[Symbol.dispose]();
      }
    });

    it('a stop string ends the response with the token that completes it', async () => {
      const free = await generate({});
      const textOf = (tokens: Int32Array) => tokenizer.decode([...tokens], { keepSpecial: true });
      const text = textOf(free[0]!.tokens);
      const stop = new StopStrings([text.slice(10, 14)], (ids) =>
        tokenizer.decode(ids, { keepSpecial: true }),
      );
      const stopped = await generate({ stop });
      stopped.forEach((completion, i) => {
        const whole = free[i]!;
        const n = completion.tokens.length;
        expect([...completion.tokens]).toEqual([...whole.tokens.subarray(0, n)]);
        expect(completion.ended).toBe(completion.stop !== undefined);
        expect(completion.logProbs).toHaveLength(n);
        expect(textOf(completion.tokens).includes(text.slice(10, 14))).toBe(completion.ended);
        expect(textOf(whole.tokens.subarray(0, n - 1)).includes(text.slice(10, 14))).toBe(false);
        if (!completion.ended) expect(n).toBe(24);
      });
      expect(stopped[0]!.stop).toBe(text.slice(10, 14));
    });

    it('refuses options that cannot be meant, by name', async () => {
      for (const [options, message] of [
        [{ topK: -1 }, /topK is -1/],
        [{ topK: 2.5 }, /topK is 2.5/],
        [{ topP: 0 }, /topP is 0, it must be above 0/],
        [{ topP: 1.01 }, /topP is 1.01/],
        [{ minP: -0.1 }, /minP is -0.1/],
        [{ temperature: NaN }, /temperature is NaN/],
        [{ logitBias: new Map([[512, 1]]) }, /token of logitBias is 512, it must be an id below 512/],
        [{ logitBias: new Map([[3, -Infinity]]) }, /logitBias of token 3 is -Infinity/],
      ] as const)
        await expect(generate(options)).rejects.toThrow(message);
    });
  },
);
