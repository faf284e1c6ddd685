// top_k, top_p and min_p from the spec to the rollouts and the evaluation; what is learnt from ignores them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import { isAnswered } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { evaluateSuite } from '../../runner/cascade/evaluation/evaluate.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { means } from '../support/means.ts';
import { noOutage, noWaiting, tinyDatasets, tinyInit, tinyPolicy, tinySpec } from '../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => runtime[Symbol.dispose]());

async function mathEntries(math: Record<string, unknown>): Promise<Entry[]> {
  const policy = await tinyPolicy(runtime);
  const entries: Entry[] = [];
  const nothing = async () => undefined;
  const host = {
    clock: noWaiting,
    alive: () => undefined,
    pauseAsked: () => false,
    emit: (entry: Entry) => void entries.push(entry),
    progress: () => undefined,
  };
  try {
    const spec = tinySpec({ sftSteps: 16, mathSteps: 2, math });
    await runCascade(spec, policy, tinyDatasets, means, { ...host, samples: nothing, snapshot: nothing });
    return entries.filter((entry) => 'stage' in entry && entry.stage === 'math');
  } finally {
    policy[Symbol.dispose]();
  }
}

describe('a math stage', () => {
  it('with top_k 1 draws groups without variance, and learns nothing', async () => {
    const skipped = (await mathEntries({ top_k: 1 })).filter(({ type }) => type === 'step_skipped');
    expect(skipped).toHaveLength(2);
    const varied = await mathEntries({});
    expect(varied.filter(({ type }) => type === 'step')).toHaveLength(2);
  });

  it('compares sampler and trainer by the untruncated log-probabilities: the ratio stays 1', async () => {
    const truncation = { temperature: 2, top_k: 12, top_p: 0.9, min_p: 0.01 };
    const steps = (await mathEntries(truncation)).filter((entry) => entry.type === 'step');
    expect(steps).toHaveLength(2);
    for (const { metrics } of steps) {
      expect(metrics['gap_mean']).toBeLessThan(1e-4);
      expect(metrics['ratio_mean']).toBeCloseTo(1, 3);
    }
  });
});

it('a suite with top_k 1 evaluates as the greedy one', async () => {
  const policy = await tinyPolicy(runtime);
  const [suite] = tinySpec().evaluate.suites.filter(isAnswered);
  const value = async (sampling: Record<string, number>) => {
    const changed = { ...suite!, k: 1, sampling: { ...suite!.sampling, ...sampling } };
    return evaluateSuite(policy, changed, tinyDatasets, {
      seed: 3,
      after: 'initial',
      means,
      outage: noOutage,
    });
  };
  try {
    expect(await value({ top_k: 1 })).toEqual(await value({ temperature: 0 }));
  } finally {
    policy[Symbol.dispose]();
  }
});

describe('the spec', () => {
  const post = (fields: Record<string, unknown>) =>
    jobSpec.safeParse({
      type: 'cascade',
      model: { init: tinyInit },
      stages: [{ kind: 'math', data: 'sums', steps: 1, ...fields }],
      evaluate: { suites: [{ name: 's', data: 'sums', grader: { type: 'math' }, sampling: fields }] },
    });

  it('keeps what the paper keeps in training, and all words in a suite, unless told', () => {
    const all = { top_k: 0, top_p: 1, min_p: 0 };
    expect(post({}).data).toMatchObject({
      stages: [{ top_k: 0, top_p: 0.95, min_p: 0 }],
      evaluate: { suites: [{ sampling: all }] },
    });
  });

  it.each([{ top_k: -1 }, { top_k: 1.5 }, { top_p: 0 }, { top_p: 1.1 }, { min_p: -0.1 }, { min_p: 2 }])(
    'refuses %j in stage and suite',
    (fields) => {
      const [field] = Object.keys(fields);
      const paths = post(fields).error?.issues.map(({ path }) => path.join('/'));
      expect(paths).toHaveLength(2);
      expect(paths).toEqual(
        expect.arrayContaining([`stages/0/${field}`, `evaluate/suites/0/sampling/${field}`]),
      );
    },
  );
});
