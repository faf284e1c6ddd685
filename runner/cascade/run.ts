// The cascade: stage after stage, each from fresh moments, every suite evaluated before the first and after each. It
// knows where it stands (a Point) and nothing of processes, leases or stores: those are the host's.
//
// Order at the end of a stage: checkpoint, then evaluation, then the next stage; so a run resumed from the checkpoint
// repeats the evaluation with the same draws and gets the same numbers.
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec, ExpandedStage } from '../../api/contract/expand.ts';
import type { Progress } from '../../api/contract/job.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { SftRow, Task } from '../../api/contract/task.ts';
import type { Means } from '../rewards/means.ts';
import { askedMode } from './asked-mode.ts';
import { evaluateSuite } from './evaluation/evaluate.ts';
import type { Grading } from './grading.ts';
import { mathStage } from './math.ts';
import { RewardUnavailable } from './outage.ts';
import type { Clock, OutagePolicy } from './outage.ts';
import { PlanNews } from './plan-news.ts';
import type { Policy } from './policy.ts';
import { sftStage } from './sft.ts';
import type { StageRun, StepResult } from './stage-run.ts';

/** A moment between two steps: `step` steps of stage `stageIndex` are done. */
export interface Point {
  readonly stageIndex: number;
  readonly step: number;
}

export type PointKind = 'step' | 'stage_end' | 'final';

/** What the cascade asks of the process it runs in. */
export interface Host {
  readonly clock: Clock;
  /** A sign of life during long work; entries and progress are signs of life too. */
  alive(): void;
  emit(entry: Entry): void;
  progress(progress: Progress): void;
  /** Keeps the rollouts of a step. */
  samples(
    lines: readonly SampleLine[],
    at: { stageIndex: number; stage: string; step: number },
  ): Promise<void>;
  /** Returns once weights and moments have been copied to where training cannot change them. */
  snapshot(point: Point, kind: PointKind): Promise<void>;
}

export interface Datasets {
  sft(id: string): readonly SftRow[];
  /** Rows that graders grade, of whatever kind. */
  tasks(id: string): readonly Task[];
}

/**
 * Runs from `from` (undefined: the very beginning) to the end of the last stage. Every stage to come is prepared first:
 * rows that it could not use end the run before a step is spent.
 */
export async function runCascade(
  spec: ExpandedSpec,
  given: Policy,
  data: Datasets,
  means: Means,
  host: Host,
  from?: Point,
): Promise<void> {
  const policy: Policy = { ...given, thinkingControl: spec.model.thinking_control };
  const first = from?.stageIndex ?? 0;
  const grading = { means, outage: outageOf(spec, host) };
  const runs = spec.stages.slice(first).map((stage) => prepare(stage, policy, data, grading, spec));
  if (from === undefined) await evaluateAll(spec, policy, data, grading, host, 'initial');
  for (const [offset, run] of runs.entries()) {
    const index = first + offset;
    const done = index === from?.stageIndex ? from.step : 0;
    if (done === 0) await policy.learner.resetMoments();
    await runStage(spec, index, done, run, host);
    await evaluateAll(spec, policy, data, grading, host, spec.stages[index]!.name);
  }
}

async function runStage(
  spec: ExpandedSpec,
  stageIndex: number,
  done: number,
  run: StageRun,
  host: Host,
): Promise<void> {
  const stage = spec.stages[stageIndex]!;
  if (done < run.steps)
    host.emit({ type: 'stage_started', stage: stage.name, stage_index: stageIndex, steps: run.steps });
  const pace = paceOf(run.steps);
  const news = new PlanNews();
  for (let step = done + 1; step <= run.steps; step += 1) {
    const result = await stepOrKeep(run, step, { stageIndex, step: step - 1 }, spec, host);
    const plans = news.of(result.plan);
    if (plans.length > 0) host.emit({ type: 'micro_batches', stage: stage.name, phase: 0, step, plans });
    host.emit(stepEntry(stage, step, result));
    if (result.samples.length > 0) {
      const lines = result.samples.map((sample) => ({ ...sample, stage: stage.name, step }));
      await host.samples(lines, { stageIndex, stage: stage.name, step });
    }
    host.progress({
      stage: stage.name,
      stage_index: stageIndex,
      stages: spec.stages.length,
      step,
      steps: run.steps,
      ...pace(step, result),
    });
    const last = step === run.steps;
    const kind = !last ? 'step' : stageIndex === spec.stages.length - 1 ? 'final' : 'stage_end';
    if (last || step % spec.checkpoints.every_steps === 0) await host.snapshot({ stageIndex, step }, kind);
  }
  host.emit({ type: 'stage_finished', stage: stage.name, stage_index: stageIndex });
}

/** A step; where its rewards stay away, what has been learnt is kept before the run ends. */
async function stepOrKeep(
  run: StageRun,
  step: number,
  before: Point,
  spec: ExpandedSpec,
  host: Host,
): Promise<StepResult> {
  try {
    return await run.step(step);
  } catch (error) {
    const kept = before.step % spec.checkpoints.every_steps === 0;
    if (error instanceof RewardUnavailable && !kept) await host.snapshot(before, 'step');
    throw error;
  }
}

const outageOf = (spec: ExpandedSpec, host: Host): OutagePolicy => ({
  rewards: spec.rewards,
  clock: host.clock,
  emit: (entry) => host.emit(entry),
  alive: () => host.alive(),
});

function prepare(
  stage: ExpandedStage,
  policy: Policy,
  data: Datasets,
  grading: Grading,
  spec: ExpandedSpec,
): StageRun {
  return stage.kind === 'sft'
    ? sftStage(policy, stage, data.sft(stage.data), spec.seed)
    : mathStage(policy, stage, data.tasks(stage.data), {
        seed: spec.seed,
        samplesPerStep: spec.samples.per_step,
        ...grading,
      });
}

async function evaluateAll(
  spec: ExpandedSpec,
  policy: Policy,
  data: Datasets,
  grading: Grading,
  host: Host,
  after: string,
): Promise<void> {
  if (spec.evaluate.suites.length === 0) return;
  const cells = [];
  for (const suite of spec.evaluate.suites) {
    const cell = await evaluateSuite(policy, suite, data.tasks(suite.data), {
      seed: spec.seed,
      after,
      ...grading,
    });
    if (cell !== undefined) cells.push(cell);
  }
  host.emit({ type: 'evaluation', after, cells });
}

function stepEntry({ name, mode }: ExpandedStage, step: number, result: StepResult): Entry {
  const at = { stage: name, phase: 0, step, mode: askedMode(mode) };
  const metrics = Object.fromEntries(
    Object.entries(result.metrics).map(([key, value]) => [key, Number.isFinite(value) ? value : null]),
  );
  return result.type === 'updated'
    ? { type: 'step', ...at, metrics }
    : { type: 'step_skipped', ...at, cause: result.cause, metrics };
}

/** Reward, loss and rate of the last step, and the time left at the mean pace of the last twenty. */
function paceOf(steps: number): (step: number, result: StepResult) => Partial<Progress> {
  const ends: number[] = [performance.now()];
  return (step, result) => {
    ends.push(performance.now());
    if (ends.length > 21) ends.shift();
    const seconds = (ends.at(-1)! - ends[0]!) / 1000 / (ends.length - 1);
    const { metrics } = result;
    return {
      reward: metrics['reward'] ?? null,
      loss: metrics['loss'] ?? null,
      tokens_per_s: metrics['tokens_per_s'] ?? null,
      seconds_left: seconds * (steps - step),
    };
  };
}
