// What a step costs beside the phases that its stage measures: saving, and core-seconds of programs that ran in sandboxes. Told with
// the step's metrics; nothing that is learnt depends on it.
import type { ExpandedStage } from '../../api/contract/expand.ts';
import { isDistilled, isReinforced } from '../../api/contract/stage-kinds.ts';
import { sourcesOf } from '../../api/contract/sources.ts';
import type { Sandbox } from '../rewards/sandbox/sandbox.ts';
import type { StepResult } from './stage-run.ts';

export class StepCosts {
  readonly #sandbox: Pick<Sandbox, 'cpuSeconds'> | undefined;
  #saving = 0;

  constructor(sandbox: Pick<Sandbox, 'cpuSeconds'> | undefined) {
    this.#sandbox = sandbox;
  }

  /** Training stands still for it. */
  async saving(save: () => Promise<void>): Promise<void> {
    const started = performance.now();
    await save();
    this.#saving += (performance.now() - started) / 1000;
  }

  /**
   * The step's result with `time_save`, the seconds of saving since the step before it (a step is told before it is saved), and, where
   * code is graded, `sandbox_core_s`.
   */
  async of(stage: ExpandedStage, step: () => Promise<StepResult>): Promise<StepResult> {
    const before = this.#sandbox?.cpuSeconds();
    const result = await step();
    const costs: Record<string, number> = { time_save: this.#saving };
    this.#saving = 0;
    if (before !== undefined && gradesCode(stage))
      costs['sandbox_core_s'] = this.#sandbox!.cpuSeconds() - before;
    return { ...result, metrics: { ...result.metrics, ...costs } };
  }
}

const gradesCode = (stage: ExpandedStage): boolean =>
  isDistilled(stage)
    ? stage.domains.some(({ grader }) => grader?.type === 'code')
    : isReinforced(stage) && sourcesOf(stage).some(({ grader }) => grader.type === 'code');
