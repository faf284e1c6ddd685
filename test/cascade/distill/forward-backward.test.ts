// A batch of rollouts of two domains: each is scored by the teacher of its domain, whatever the order of the batch, and the gradients of
// both add up.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forwardBackward } from '../../../runner/cascade/distill/forward-backward.ts';
import type { DistillStepOptions } from '../../../runner/cascade/distill/options.ts';
import type { SampledRollout } from '../../../runner/cascade/distill/rollouts.ts';
import type { DistilledSource } from '../../../runner/cascade/distill/sources.ts';
import { TeacherPool } from '../../../runner/cascade/distill/teacher-pool.ts';
import { sampleGroups } from '../../../runner/cascade/rollout.ts';
import type { Arena } from '../../../runner/engine/models/parameters.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { drawKey } from '../../../runner/engine/random/draws.ts';
import { tinyDistillSpec } from '../../support/tiny-distill.ts';
import { tinyPolicy } from '../../support/tiny-policy.ts';
import type { TinyPolicy } from '../../support/tiny-policy.ts';
import { tinyTeachers } from '../../support/tiny-teachers.ts';

const names = { math: '/models/a', code: '/models/b' };

let runtime: Runtime;
let policy: TinyPolicy;
let pool: TeacherPool;
let rollouts: SampledRollout[];
beforeAll(async () => {
  runtime = createRuntime();
  policy = await tinyPolicy(runtime);
  const outside: Record<string, Arena> = {};
  for (const [index, name] of Object.values(names).entries()) {
    const other = await tinyPolicy(runtime, 20 + index);
    outside[name] = (await other.learner.state()).weights.slice();
    other[Symbol.dispose]();
  }
  const host = tinyTeachers(runtime, policy.learner, { stages: [] }, { outside });
  pool = new TeacherPool(host, Object.values(names));
  const prompts = [[1, 2, 3], [4, 5], [6, 7, 8, 9, 10], [11]].map((ids) => Int32Array.from(ids));
  const options = { rollouts: 3, temperature: 0.8, maxResponse: 9 };
  const groups_PG = await sampleGroups(policy, prompts, options, drawKey(3, 'answers', 1));
  rollouts = groups_PG.flatMap((rollouts_G, p) =>
    rollouts_G.map((rollout) => ({ rollout, reward: 0, mode: undefined, source: sourceOf(p) })),
  );
});
afterAll(() => {
  pool.close();
  policy[Symbol.dispose]();
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

const sources = Object.keys(names).map((domain) => ({ domain }) as DistilledSource);
/** Every other prompt is of the one domain. */
const sourceOf = (p: number): DistilledSource => sources[p % 2]!;

async function distilledBy(
  batch: readonly SampledRollout[],
  teachers: Readonly<Record<string, string>> = names,
) {
  const stage = tinyDistillSpec({ distill: { temperature: 0.8 } }).stages[2];
  const chosen = Object.entries(teachers).map(([domain, teacher]) => ({ domain, teacher, score: null }));
  const options = { stage, policy, pool, teachers: chosen } as unknown as DistillStepOptions;
  const { distilled } = await forwardBackward(options, batch);
  const gradient = new Map(
    [...(await policy.learner.namedGradients())].map(([name, { data }]) => [
      name,
      data.slice() as Float32Array,
    ]),
  );
  policy.learner.dropGradients();
  return { distilled, gradient };
}

function expectAlike(a: ReadonlyMap<string, Float32Array>, b: ReadonlyMap<string, Float32Array>): void {
  for (const [name, values] of a) {
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(largest).toBeGreaterThan(0);
    values.forEach((value, i) =>
      expect(Math.abs(value - b.get(name)![i]!)).toBeLessThan(1e-5 * largest + 1e-9),
    );
  }
}

it('has every rollout scored by the teacher of its domain', async () => {
  const { distilled } = await distilledBy(rollouts);
  expect(distilled.map(({ rollout }) => rollout)).toEqual(rollouts.map(({ rollout }) => rollout));
  for (const [domain, name] of Object.entries(names)) {
    const own = distilled.filter(({ source }) => source.domain === domain);
    const tokens = own.map(({ rollout: { prompt, response } }) => Int32Array.from([...prompt, ...response]));
    const { logProbs } = await pool.use(name, (scorer) =>
      scorer.score(
        tokens.map((tokens_T, i) => ({
          tokens_T,
          weights_T: new Float32Array(tokens_T.length),
          scoredFrom: own[i]!.rollout.prompt.length,
        })),
        { temperature: 0.8 },
      ),
    );
    own.forEach(({ teacherLogProbs_T, rollout }, i) =>
      expect([...teacherLogProbs_T]).toEqual([...logProbs[i]!.subarray(rollout.prompt.length)]),
    );
  }
});

it('has the same gradient whatever the order of the batch', async () => {
  const straight = await distilledBy(rollouts);
  const order = [7, 2, 11, 0, 5, 9, 3, 1, 10, 4, 8, 6];
  const shuffled = await distilledBy(order.map((i) => rollouts[i]!));
  expectAlike(straight.gradient, shuffled.gradient);
  order.forEach((i, at) => {
    const [a, b] = [straight.distilled[i]!, shuffled.distilled[at]!];
    expect(a.rollout).toBe(b.rollout);
    a.teacherLogProbs_T.forEach((value, t) => expect(b.teacherLogProbs_T[t]).toBeCloseTo(value, 5));
  });
});

it('would learn something else of teachers exchanged', async () => {
  const { distilled } = await distilledBy(rollouts);
  const exchanged = await distilledBy(rollouts, { math: names.code, code: names.math });
  const [a, b] = [distilled[0]!, exchanged.distilled[0]!];
  expect([...a.policyLogProbs_T]).toEqual([...b.policyLogProbs_T]);
  expect([...a.teacherLogProbs_T]).not.toEqual([...b.teacherLogProbs_T]);
});
