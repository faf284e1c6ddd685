// What rows of a cache promise wherever they lie: every completion is what its prompt and draws give alone, whatever shares
// the batch, whatever held its slot before, however many share its prompt. Each rule has the accident that it guards against.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { loadParameters } from '../../../runner/engine/learner/parameter-set.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import type {
  Completion,
  JoiningRequest,
  SampleOptions,
  SampleRequest,
} from '../../../runner/engine/sampler/completion.ts';
import type { SampledModel } from '../../../runner/engine/sampler/sampled-model.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import type { SlotLimits } from '../../../runner/engine/sampler/slot-limits.ts';
import { smallConfig } from '../learner/provider-cases.ts';
import { livelyWeights, sequence } from '../learner/support.ts';

const config = { ...smallConfig, qkNorm: true, qkvBias: true };
const tolerance = 1e-3;

const prompt = (length: number, seed: number): Int32Array =>
  Int32Array.from({ length }, (_, t) => (seed * 5 + t * t + 1) % 29);
const request = (of: Int32Array, key: number, maxTokens: number): SampleRequest => ({
  prompt: of,
  maxTokens,
  draw: drawStream(drawKey(11, 'test', 1), key, 0),
});

/** `make` gives a runtime of the provider under test; the suite ends it. */
export function cacheCases(make: () => Runtime): void {
  let runtime: Runtime;
  let model: SampledModel;
  let cpu: Runtime;
  let reference: Learner;
  beforeAll(async () => {
    runtime = make();
    cpu = createRuntime({ threads: 2 });
    model = { config, weights: await loadParameters(runtime, config, livelyWeights(config, 5)) };
    reference = await Learner.create(cpu, config, livelyWeights(config, 5));
  });
  afterAll(() => {
    for (const one of [model.weights, reference]) one[Symbol.dispose]();
    for (const one of [runtime, cpu]) {
      expect(one.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
      one[Symbol.dispose]();
    }
  });

  async function generate(
    requests: readonly SampleRequest[],
    limits: SlotLimits = { rows: 8, cacheTokens: 1 << 12 },
    options: Partial<SampleOptions> = {},
  ): Promise<Completion[]> {
    const sampler = new SlotSampler(runtime, model, limits);
    try {
      return await sampler.generate(requests, { temperature: 1, endIds: [], ...options });
    } finally {
      sampler[Symbol.dispose]();
    }
  }

  /** Every token has the log-probability that a learner on the CPU gives it after what precedes it: no row saw another's keys. */
  async function expectScored(
    requests: readonly SampleRequest[],
    completions: readonly Completion[],
  ): Promise<void> {
    const drawn = completions.map(({ tokens }, i) => {
      const ids = [...requests[i]!.prompt, ...tokens];
      return sequence(
        ids,
        ids.map(() => 0),
        requests[i]!.prompt.length,
      );
    });
    const { logProbs } = await reference.score(drawn, { temperature: 1 });
    completions.forEach((completion, i) => {
      const scored = logProbs[i]!.subarray(requests[i]!.prompt.length);
      completion.logProbs.forEach((logProb, t) =>
        expect(Math.abs(logProb - scored[t]!), `request ${i}, token ${t}`).toBeLessThan(tolerance),
      );
    });
  }

  it('one prompt to many rollouts: each goes on from the prompt alone', async () => {
    const shared = prompt(9, 1);
    const requests = [0, 1, 2, 3].map((key) => request(shared, key, 8));
    const completions = await generate(requests);
    await expectScored(requests, completions);
    expect(new Set(completions.map(({ tokens }) => String(tokens))).size).toBeGreaterThan(1);
  });

  it('a long prompt is computed like a short one, whatever kernel a device has for it', async () => {
    const requests = [31, 32, 33, 48, 57].map((length, i) => request(prompt(length, i), i, 4));
    await expectScored(requests, await generate(requests));
  });

  it('a prompt that comes in later leaves the rows at work as they are', async () => {
    // Two rows; the first ends early and the third request is prefilled while the second is at work.
    const requests = [
      request(prompt(3, 1), 0, 2),
      request(prompt(12, 2), 1, 14),
      request(prompt(20, 3), 2, 6),
      request(prompt(2, 4), 3, 3),
    ];
    await expectScored(requests, await generate(requests, { rows: 2, cacheTokens: 1 << 12 }));
  });

  it('a slot that is used again holds nothing of the one before it, longer or shorter', async () => {
    const lengths = [20, 2, 17, 1, 9, 20];
    const requests = lengths.map((length, i) => request(prompt(length, i), i, 3 + ((i * 5) % 7)));
    await expectScored(requests, await generate(requests, { rows: 1, cacheTokens: 1 << 12 }));
    await expectScored(requests, await generate(requests, { rows: 2, cacheTokens: 1 << 12 }));
  });

  it('idle rows write where nobody reads', async () => {
    // Three requests in four rows, and each ends at another step.
    const requests = [5, 11, 8].map((length, i) => request(prompt(length, i), i, 4 + 3 * i));
    await expectScored(requests, await generate(requests));
  });

  it('rows that move together when the batch halves, twice, take their tokens along', async () => {
    // The long ones stand at the end: they move to the front as the others end.
    const requests = [2, 3, 2, 3, 9, 4, 12, 20].map((maxTokens, i) =>
      request(prompt(4 + i, i), i, maxTokens),
    );
    const completions = await generate(requests);
    await expectScored(requests, completions);
    expect(completions.map(({ tokens }) => tokens.length)).toEqual(
      requests.map(({ maxTokens }) => maxTokens),
    );
  });

  it('requests that join a batch that has shrunk find rows of their own, and disturb none', async () => {
    const requests = [
      request(prompt(4, 0), 0, 2),
      request(prompt(6, 1), 1, 16),
      request(prompt(9, 2), 2, 5),
      request(prompt(1, 3), 3, 6),
      request(prompt(5, 4), 4, 4),
    ];
    const completions: Completion[] = [];
    let joined = 0;
    let steps = 0;
    // Two at first; the others come when the second has been alone for a while.
    const next = (): JoiningRequest | undefined => {
      const i = joined;
      if (i >= requests.length || (i >= 2 && steps < 8)) return undefined;
      joined += 1;
      return {
        ...requests[i]!,
        ...(i === 1 && {
          onToken: () => {
            steps += 1;
            return true;
          },
        }),
        onEnd: (completion) => (completions[i] = completion),
      };
    };
    const sampler = new SlotSampler(runtime, model, { rows: 4, cacheTokens: 1 << 12 });
    try {
      await sampler.generateJoining(next, { temperature: 1, endIds: [] }, { rows: 4, capacity: 32 });
    } finally {
      sampler[Symbol.dispose]();
    }
    await expectScored(requests, completions);
    expect(completions.map(({ tokens }) => tokens.length)).toEqual(
      requests.map(({ maxTokens }) => maxTokens),
    );
  });

  it('the same sampler again, after a batch that shrank: full size, other prompts', async () => {
    const sampler = new SlotSampler(runtime, model, { rows: 4, cacheTokens: 1 << 12 });
    const options = { temperature: 1, endIds: [] };
    try {
      for (const seed of [1, 2]) {
        const requests = [2, 2, 9, 3].map((maxTokens, i) =>
          request(prompt(5 + i * seed, i + seed), i, maxTokens),
        );
        await expectScored(requests, await sampler.generate(requests, options));
      }
    } finally {
      sampler[Symbol.dispose]();
    }
  });

  it('the same tokens in any company', async () => {
    const requests = [4, 13, 6].flatMap((length, p) => {
      const shared = prompt(length, p);
      return [0, 1].map((g) => request(shared, 2 * p + g, 6));
    });
    const together = await generate(requests);
    const inTwo = await generate(requests, { rows: 2, cacheTokens: 1 << 12 });
    expect(inTwo.map(({ tokens }) => [...tokens])).toEqual(together.map(({ tokens }) => [...tokens]));
  });

  describe('draws', () => {
    it.each([
      ['greedy', { temperature: 0 }],
      ['truncated', { temperature: 0.7, topK: 5, topP: 0.9, minP: 0.01 }],
      ['biased', { logitBias: new Map([[3, 2]]) }],
    ] as const)('%s', async (_, options) => {
      const requests = [3, 7].map((length, i) => request(prompt(length, i), i, 5));
      const found = await generate(requests, undefined, options);
      const onCpu = await (async () => {
        const sampler = new SlotSampler(cpu, { config, weights: reference.weights });
        try {
          return await sampler.generate(requests, { temperature: 1, endIds: [], ...options });
        } finally {
          sampler[Symbol.dispose]();
        }
      })();
      found.forEach((completion, i) => {
        expect([...completion.tokens]).toEqual([...onCpu[i]!.tokens]);
        for (const kind of ['logProbs', 'samplingLogProbs', 'logProbsAtOne'] as const)
          completion[kind].forEach((logProb, t) =>
            expect(Math.abs(logProb - onCpu[i]![kind][t]!), kind).toBeLessThan(tolerance),
          );
      });
    });
  });

  it('follows the weights: what a learner changes shows in the next rollouts', async () => {
    const learner = await Learner.create(runtime, config, livelyWeights(config, 5));
    const sampler = new SlotSampler(runtime, { config, weights: learner.weights });
    try {
      const requests = [request(prompt(6, 1), 0, 6)];
      const options = { temperature: 1, endIds: [] };
      const [before] = await sampler.generate(requests, options);
      const ids = [...requests[0]!.prompt, ...before!.tokens];
      const batch = [
        sequence(
          ids,
          ids.map((_, t) => (t < 6 ? 0 : 1 / 6)),
          6,
        ),
      ];
      const adamw = { lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0 };
      await learner.forwardBackward(batch, { temperature: 1 });
      await learner.step(adamw);
      const [after] = await sampler.generate(requests, options);
      expect(after!.logProbs[0]).not.toBe(before!.logProbs[0]);
      const redrawn = [...requests[0]!.prompt, ...after!.tokens];
      const { logProbs } = await learner.score(
        [
          sequence(
            redrawn,
            redrawn.map(() => 0),
            6,
          ),
        ],
        { temperature: 1 },
      );
      after!.logProbs.forEach((logProb, t) =>
        expect(Math.abs(logProb - logProbs[0]![6 + t]!)).toBeLessThan(tolerance),
      );
    } finally {
      sampler[Symbol.dispose]();
      learner[Symbol.dispose]();
    }
  });

  it('a head size that attention over a cache has no kernel for is refused at once', () => {
    const narrow = { ...config, headSize: 12 };
    expect(() => new SlotSampler(runtime, { config: narrow, weights: model.weights })).toThrow(
      /head size that is a multiple of 8 .*this model has 12/,
    );
  });
}
