// The cascade: stage after stage, each from fresh moments, every suite evaluated before the first and after each, gates looked at
// then. It knows where it stands (a Point) and nothing of processes, leases or stores: those are the host's.
//
// Order at the end of a stage: checkpoint, evaluation, gates, then the next stage; so a run resumed from the checkpoint repeats
// the evaluation with the same draws and gets the same numbers. A stage that repairs another runs only where a gate that says so fired
// after that one.
import type { ExpandedSpec, ExpandedStage } from '../../api/contract/expand.ts';
import { repairsOf } from '../../api/contract/repair.ts';
import type { Means } from '../rewards/means.ts';
import { distillStage } from './distill/stage.ts';
import { lookAtGates } from './evaluation/gates.ts';
import { Matrix } from './evaluation/matrix.ts';
import type { Grading } from './grading.ts';
import type { Datasets, Host } from './host.ts';
import { outageOf, RewardUnavailable } from './outage.ts';
import { paceOf } from './pace.ts';
import { PlanNews } from './plan-news.ts';
import { heedPause, Paused } from './point.ts';
import type { Point, PointKind, Resumed } from './point.ts';
import type { Policy } from './policy.ts';
import { reinforcedStage } from './rl/stage.ts';
import { sftStage } from './sft.ts';
import type { StageRun, StepResult } from './stage-run.ts';
import { StepCosts } from './step-costs.ts';
import { stepEntry } from './step-entry.ts';

/** What every part of a run has at hand. */
export interface Run {
  readonly spec: ExpandedSpec;
  readonly learner: Policy['learner'];
  readonly host: Host;
  readonly matrix: Pick<Matrix, 'evaluations' | 'evaluateWithin'>;
  /**
   * At the end of a stage, and of the `initial` model; says whether the stage that repairs it is wanted. Throws where the run must not
   * go on from here.
   */
  evaluate(after: string): Promise<boolean>;
  readonly costs: StepCosts;
}

/**
 * Runs from `from` (undefined: the very beginning) to the end of the last stage. Every stage to come is prepared first:
 * rows that it could not use end the run before a step is spent. Throws Paused where the host asks for it.
 */
export async function runCascade(
  spec: ExpandedSpec,
  given: Policy,
  data: Datasets,
  means: Means,
  host: Host,
  from?: Resumed,
): Promise<void> {
  const policy: Policy = { ...given, thinkingControl: spec.model.thinking_control };
  const first = from?.stageIndex ?? 0;
  const grading = { means, outage: outageOf(spec, host) };
  const matrix = new Matrix({ spec, policy, data, grading, host }, from?.carried.evaluations);
  const stages = spec.stages
    .slice(first)
    .map((stage) => prepare(stage, policy, data, { ...grading, spec, host, matrix }));
  const gates = { spec, host, matrix, passed: from?.passedGates ?? [] };
  const evaluate = async (after: string): Promise<boolean> =>
    lookAtGates(gates, after, await matrix.evaluate(after));
  const costs = new StepCosts(means.sandbox);
  await runStages({ spec, learner: policy.learner, host, matrix, evaluate, costs }, stages, from);
}

/** `stages` from that of `from` on. */
export async function runStages(run: Run, stages: readonly StageRun[], from?: Resumed): Promise<void> {
  const first = from?.stageIndex ?? 0;
  if (from === undefined) await run.evaluate('initial');
  let wanted = false;
  for (const [offset, stage] of stages.entries()) {
    const index = first + offset;
    const resumed = index === from?.stageIndex ? from : undefined;
    const repaired = repairsOf(run.spec.stages[index]);
    // One that an attempt before this one has begun was wanted then.
    if (repaired !== undefined && !wanted && resumed === undefined) {
      leaveOut(run, index, `no gate after ${repaired} asks for it`);
      continue;
    }
    await runStage(run, index, stage, resumed);
    wanted = await run.evaluate(run.spec.stages[index]!.name);
  }
}

function leaveOut({ spec, host }: Run, stageIndex: number, cause: string): void {
  const stage = spec.stages[stageIndex]!.name;
  host.emit({ type: 'stage_skipped', stage, stage_index: stageIndex, cause });
}

async function runStage(
  run: Run,
  stageIndex: number,
  stage: StageRun,
  from: Resumed | undefined,
): Promise<void> {
  if (from === undefined) await run.learner.resetMoments();
  if (from !== undefined && from.kind !== 'step') return;
  try {
    await stage.begin?.(from?.carried.stage);
    await runSteps(run, stageIndex, stage, from?.step ?? 0);
  } finally {
    stage.end?.();
  }
}

async function runSteps(run: Run, stageIndex: number, stage: StageRun, done: number): Promise<void> {
  const { spec, host } = run;
  const { name } = spec.stages[stageIndex]!;
  host.emit({ type: 'stage_started', stage: name, stage_index: stageIndex, steps: stage.steps });
  const report = reporter(run, stageIndex, stage);
  let ended: string | undefined;
  for (let step = done + 1; step <= stage.steps && ended === undefined; step += 1) {
    const before = { stageIndex, step: step - 1 };
    const result = await stepOrKeep(run, stage, before, done);
    await report(step, result);
    ({ ended } = result);
    const last = step === stage.steps || ended !== undefined;
    const kind = !last ? 'step' : stageIndex === spec.stages.length - 1 ? 'final' : 'stage_end';
    if (last || isDue(spec, step)) await keep(run, stage, { stageIndex, step }, kind);
  }
  host.emit({ type: 'stage_finished', stage: name, stage_index: stageIndex, cause: ended ?? null });
}

const isDue = ({ checkpoints }: ExpandedSpec, step: number): boolean => step % checkpoints.every_steps === 0;

const keep = ({ host, matrix, costs }: Run, stage: StageRun, point: Point, kind: PointKind): Promise<void> =>
  costs.saving(() =>
    host.snapshot(point, kind, { stage: stage.carried?.() ?? {}, evaluations: matrix.evaluations }),
  );

/**
 * A step, after the evaluation that is due before it. Where the run is to pause first, or rewards stay away, what has been learnt
 * is kept before the run ends; the first `kept` steps are in a checkpoint already.
 */
async function stepOrKeep(run: Run, stage: StageRun, before: Point, kept: number): Promise<StepResult> {
  const { spec, host, matrix, costs } = run;
  const expanded = spec.stages[before.stageIndex]!;
  const { name } = expanded;
  try {
    heedPause(host, `after step ${before.step} of stage ${name}`);
    await matrix.evaluateWithin(name, before.step);
    return await costs.of(expanded, () => stage.step(before.step + 1));
  } catch (error) {
    const endsEarly = error instanceof RewardUnavailable || error instanceof Paused;
    if (endsEarly && before.step > kept && !isDue(spec, before.step)) await keep(run, stage, before, 'step');
    throw error;
  }
}

/** Tells the host of every step of a stage. */
function reporter({ spec, host, costs }: Run, stageIndex: number, run: StageRun) {
  const stage = spec.stages[stageIndex]!;
  const pace = paceOf(run.steps);
  const news = new PlanNews();
  return async (step: number, result: StepResult): Promise<void> => {
    const phase = run.phaseOf?.(step) ?? 0;
    const plans = news.of(result.plan);
    if (plans.length > 0) host.emit({ type: 'micro_batches', stage: stage.name, phase, step, plans });
    host.emit(stepEntry(stage, phase, step, result));
    if (result.samples.length > 0) {
      const lines = result.samples.map((sample) => ({ ...sample, stage: stage.name, step }));
      await costs.saving(() => host.samples(lines, { stageIndex, stage: stage.name, phase, step }));
    }
    host.progress({
      stage: stage.name,
      stage_index: stageIndex,
      stages: spec.stages.length,
      step,
      steps: run.steps,
      ...pace(step, result),
    });
  };
}

interface Preparing extends Grading, Pick<Run, 'spec' | 'host'> {
  readonly matrix: Pick<Matrix, 'evaluations'>;
}

function prepare(
  stage: ExpandedStage,
  policy: Policy,
  data: Datasets,
  { spec, ...given }: Preparing,
): StageRun {
  const options = { seed: spec.seed, samplesPerStep: spec.samples.per_step, ...given };
  switch (stage.kind) {
    case 'sft':
      return sftStage(policy, stage, data.sft(stage.data), spec.seed);
    case 'reward_model':
      throw new Error('internal: a reward model is a job of its own');
    case 'distill':
      return distillStage(policy, stage, data, options);
    default:
      return reinforcedStage(policy, stage, data, options);
  }
}
