// What a step is told beside its phases: seconds of saving go to the step after them, core-seconds of sandboxes to the step that
// spent them, and to stages that grade code only.
import { describe, expect, it } from 'vitest';
import { expandedSpec } from '../../api/contract/expand.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import { StepCosts } from '../../runner/cascade/step-costs.ts';
import type { StepResult } from '../../runner/cascade/stage-run.ts';
import { tinySpec } from '../support/tiny-policy.ts';

const [, math] = tinySpec().stages as [ExpandedStage, ExpandedStage];
const code = expandedSpec.parse(tinySpec({ math: { grader: { type: 'code', language: 'javascript' } } }))
  .stages[1]!;
const result: StepResult = { type: 'updated', metrics: { reward: 0.5 }, samples: [], plan: [] };

/** A sandbox that has used `seconds`, and uses more. */
const sandboxOf = (begun: number) => {
  let seconds = begun;
  return {
    cpuSeconds: () => seconds,
    use: (more: number) => void (seconds += more),
  };
};

describe('StepCosts', () => {
  it('tells the step after it what saving took, once', async () => {
    const costs = new StepCosts(undefined);
    let done = (): void => undefined;
    const saved = costs.saving(() => new Promise((resolve) => void (done = resolve)));
    const before = performance.now();
    while (performance.now() - before < 5);
    done();
    await saved;
    const [first, second] = [
      await costs.of(math, async () => result),
      await costs.of(math, async () => result),
    ];
    expect(first.metrics).toMatchObject({ reward: 0.5 });
    expect(first.metrics['time_save']).toBeGreaterThanOrEqual(0.005);
    expect(second.metrics['time_save']).toBe(0);
  });

  it('counts a step of code what sandboxes used within it, and no evaluation between steps', async () => {
    const sandbox = sandboxOf(3);
    const costs = new StepCosts(sandbox);
    const using = (more: number) => async () => {
      sandbox.use(more);
      return result;
    };
    expect((await costs.of(code, using(2))).metrics['sandbox_core_s']).toBe(2);
    sandbox.use(10);
    expect((await costs.of(code, using(0.5))).metrics['sandbox_core_s']).toBe(0.5);
    expect((await costs.of(math, using(1))).metrics).not.toHaveProperty('sandbox_core_s');
  });
});
