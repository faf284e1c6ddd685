// The sampler against stored references, and what it promises whatever the batching: the same tokens for the same draws.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModelWeights } from '../../../runner/checkpoint/safetensors.ts';
import { loadParameters } from '../../../runner/engine/learner/parameter-set.ts';
import { parseModelConfig } from '../../../runner/engine/models/config.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import type { Completion, SampleRequest } from '../../../runner/engine/sampler/completion.ts';
import type { SampledModel } from '../../../runner/engine/sampler/sampled-model.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

async function loadModel(runtime: Runtime, directory: string): Promise<SampledModel> {
  const config = parseModelConfig(JSON.parse(readFileSync(`${directory}/config.json`, 'utf8')), directory);
  return { config, weights: await loadParameters(runtime, config, await readModelWeights(directory)) };
}

const prompts = [
  [1],
  [1, 403, 407],
  [1, 403, 407, 261, 378, 432, 383, 286, 261, 376],
  [1, 261, 376, 298, 315],
].map((ids) => Int32Array.from(ids));

const requestsOf = (groups: number, maxTokens = 24): SampleRequest[] =>
  Array.from({ length: groups }, (_, p) => prompts[p % prompts.length]!).flatMap((prompt, p) =>
    [0, 1, 2].map((g) => ({
      prompt,
      maxTokens: maxTokens - (p % 3),
      draw: drawStream(drawKey(5, 'test', 1), p, g),
    })),
  );

describe.skipIf(testDataDir === undefined)(
  `slot sampler (${testDataDir === undefined ? noTestData : 'stories260K'})`,
  () => {
    let runtime: Runtime;
    let model: SampledModel;
    beforeAll(async () => {
      runtime = createRuntime();
      model = await loadModel(runtime, testData('stories260K/hf'));
    });
    afterAll(() => {
      model.weights[Symbol.dispose]();
      expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
      runtime[Symbol.dispose]();
    });

    async function generate(
      requests: readonly SampleRequest[],
      temperature: number,
      limits = { rows: 512, cacheTokens: 1 << 17 },
      endIds: number[] = [],
    ) {
      const sampler = new SlotSampler(runtime, model, limits);
      try {
        return await sampler.generate(requests, { temperature, endIds });
      } finally {
        sampler[Symbol.dispose]();
      }
    }

    it('gives the 200 greedy tokens of the float64 reference, log-probabilities within 1e-4', async () => {
      const golden = JSON.parse(readFileSync(testData('stories260K/hf/golden.json'), 'utf8')) as {
        ids: number[];
        token_logprobs: number[];
      };
      const [first, ...rest] = golden.ids;
      const [completion] = await generate(
        [{ prompt: Int32Array.of(first!), maxTokens: rest.length, draw: () => 0.5 }],
        0,
      );
      expect([...completion!.tokens]).toEqual(rest);
      expect(golden.token_logprobs).toHaveLength(199);
      golden.token_logprobs.forEach((logProb, t) =>
        expect(Math.abs(completion!.logProbs[t]! - logProb)).toBeLessThan(1e-4),
      );
    });

    it('gives the same tokens from a cached prompt as token by token', async () => {
      const golden = JSON.parse(readFileSync(testData('stories260K/hf/golden.json'), 'utf8')) as {
        ids: number[];
      };
      for (const length of [2, 7, 9, 33, 100]) {
        const [completion] = await generate(
          [{ prompt: Int32Array.from(golden.ids.slice(0, length)), maxTokens: 20, draw: () => 0.5 }],
          0,
        );
        expect([...completion!.tokens]).toEqual(golden.ids.slice(length, length + 20));
      }
    });

    it('draws the same tokens in few slots as in many, prompts shared or not', async () => {
      const wide = await generate(requestsOf(12), 1);
      const narrow = await generate(requestsOf(12), 1, { rows: 4, cacheTokens: 1 << 17 });
      const alone = await Promise.all(
        requestsOf(12)
          .slice(0, 5)
          .map(async (request) => (await generate([{ ...request, prompt: request.prompt.slice() }], 1))[0]!),
      );
      expect(narrow.map(({ tokens }) => [...tokens])).toEqual(wide.map(({ tokens }) => [...tokens]));
      alone.forEach(({ tokens, logProbs }, i) => {
        expect([...tokens]).toEqual([...wide[i]!.tokens]);
        logProbs.forEach((logProb, t) => expect(logProb).toBeCloseTo(wide[i]!.logProbs[t]!, 4));
      });
    });

    it('repeats itself bit for bit, also on warm caches', async () => {
      const sampler = new SlotSampler(runtime, model);
      try {
        const first = await sampler.generate(requestsOf(9), { temperature: 0.7, endIds: [] });
        await sampler.generate(requestsOf(4), { temperature: 1.3, endIds: [] });
        expect(await sampler.generate(requestsOf(9), { temperature: 0.7, endIds: [] })).toEqual(first);
      } finally {
        sampler[Symbol.dispose]();
      }
    });

    it('tells each completion as soon as it is there, with its place', async () => {
      const sampler = new SlotSampler(runtime, model, { rows: 4, cacheTokens: 1 << 17 });
      try {
        const told: [number, Completion][] = [];
        const requests = requestsOf(4).map((request, i) => ({ ...request, maxTokens: 4 + ((i * 5) % 12) }));
        const options = { temperature: 1, endIds: [] };
        const completions = await sampler.generate(requests, options, (i, completion) =>
          told.push([i, completion]),
        );
        // As they end: the shorter before the longer of those at work.
        expect(told.map(([i]) => i)).not.toEqual(requests.map((_, i) => i));
        for (const [i, completion] of told) expect(completions[i]).toBe(completion);
        expect(new Set(told.map(([i]) => i)).size).toBe(requests.length);
        const refused = sampler.generate(requests, options, () => {
          throw new Error('no more');
        });
        await expect(refused).rejects.toThrow('no more');
        expect(await sampler.generate(requests, options)).toEqual(completions);
      } finally {
        sampler[Symbol.dispose]();
      }
    });

    it('stops at an end token, kept as the last, and says when it was cut off', async () => {
      const free = await generate(requestsOf(8), 1);
      const end = free[0]!.tokens[5]!;
      const stopped = await generate(requestsOf(8), 1, undefined, [end]);
      stopped.forEach(({ tokens, ended }, i) => {
        const full = [...free[i]!.tokens];
        const at = full.indexOf(end);
        expect([...tokens]).toEqual(at === -1 ? full : full.slice(0, at + 1));
        expect(ended).toBe(at !== -1);
      });
      expect(stopped.some(({ ended }) => ended)).toBe(true);
    });

    it('follows the weights: an update shows in the next rollouts', async () => {
      const changed = await loadModel(runtime, testData('stories260K/hf'));
      const sampler = new SlotSampler(runtime, changed);
      try {
        const request = requestsOf(1).slice(0, 1);
        const [before] = await sampler.generate(request, { temperature: 0, endIds: [] });
        await changed.weights.tensor('model.norm.weight').zero();
        const [after] = await sampler.generate(request, { temperature: 0, endIds: [] });
        // Without the final norm every logit is 0: the first word, at probability 1 / 512.
        expect([...after!.tokens].every((token) => token === 0)).toBe(true);
        expect(after!.logProbs[0]).toBeCloseTo(-Math.log(512), 5);
        expect([...before!.tokens]).not.toEqual([...after!.tokens]);
      } finally {
        sampler[Symbol.dispose]();
        changed.weights[Symbol.dispose]();
      }
    });

    it('refuses what cannot be sampled, by name', async () => {
      await expect(
        generate([{ prompt: new Int32Array(0), maxTokens: 4, draw: () => 0.5 }], 1),
      ).rejects.toThrow(/request 0: the prompt has no token/);
      await expect(
        generate([{ prompt: Int32Array.of(1), maxTokens: 512, draw: () => 0.5 }], 1),
      ).rejects.toThrow(/exceed the model's 512 positions/);
    });
  },
);
