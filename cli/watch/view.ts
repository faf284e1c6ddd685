// What a watcher knows of a job, as a fold over its events; nothing else is asked of the service, so that a replay
// of an old job and a live one look alike. Pure.
import type { EvaluationCell, JobEvent } from '../../api/contract/event.ts';
import type { FailureReason, JobState } from '../../api/contract/job.ts';

export interface StageView {
  readonly name: string;
  /** From 1. */
  readonly number: number;
  readonly steps: number;
  readonly step: number;
  readonly reward: number | null;
  readonly loss: number | null;
  /** To teachers, or to a reference model. */
  readonly kl: number | null;
  readonly tokensPerSecond: number | null;
  /** Until the stage's last step, at its mean pace; null before the second step. */
  readonly secondsLeft: number | null;
  /** The step that this attempt's part of the stage was first seen at, and when (ms). */
  readonly pace: { readonly step: number; readonly at: number } | null;
}

export interface Evaluated {
  /** The stage, or "initial". */
  readonly after: string;
  /** Within the stage; null: at its end. */
  readonly step: number | null;
  readonly cells: readonly EvaluationCell[];
}

export interface View {
  readonly state: JobState;
  readonly attempt: number;
  readonly reason: FailureReason | null;
  readonly message: string | null;
  readonly stage: StageView | null;
  /** One entry a point of evaluation; a repetition after a resume replaces the former. */
  readonly evaluations: readonly Evaluated[];
  readonly lastSeq: number;
}

export const emptyView: View = {
  state: 'queued',
  attempt: 0,
  reason: null,
  message: null,
  stage: null,
  evaluations: [],
  lastSeq: 0,
};

export function withEvent(before: View, event: JobEvent): View {
  const view = { ...before, lastSeq: event.seq, attempt: event.attempt };
  const { body } = event;
  const at = Date.parse(event.created_at);
  switch (body.type) {
    case 'state':
      return { ...view, state: body.to, reason: body.reason ?? null, message: body.message ?? null };
    case 'stage_started':
      return { ...view, stage: newStage(body.stage, body.stage_index + 1, body.steps) };
    case 'step':
      return { ...view, stage: withStep(view.stage, body.stage, body.step, at, body.metrics) };
    case 'step_skipped':
      return { ...view, stage: withStep(view.stage, body.stage, body.step, at, {}) };
    case 'evaluation':
      return { ...view, evaluations: withEvaluation(view.evaluations, body) };
    default:
      return view;
  }
}

const newStage = (name: string, number: number, steps: number): StageView => ({
  name,
  number,
  steps,
  step: 0,
  reward: null,
  loss: null,
  kl: null,
  tokensPerSecond: null,
  secondsLeft: null,
  pace: null,
});

function withStep(
  stage: StageView | null,
  name: string,
  step: number,
  at: number,
  metrics: Readonly<Record<string, number | null>>,
): StageView {
  const current = stage?.name === name ? stage : newStage(name, 0, 0);
  const pace = current.pace === null || step < current.pace.step ? { step, at } : current.pace;
  const taken = step - pace.step;
  return {
    ...current,
    step,
    reward: metrics['reward'] ?? null,
    loss: metrics['loss'] ?? null,
    kl: metrics['kl'] ?? null,
    tokensPerSecond: metrics['tokens_per_s'] ?? null,
    secondsLeft: taken === 0 ? null : ((at - pace.at) / 1000 / taken) * Math.max(0, current.steps - step),
    pace,
  };
}

type EvaluationBody = Extract<JobEvent['body'], { type: 'evaluation' }>;

const withEvaluation = (
  known: readonly Evaluated[],
  { after, step = null, cells }: EvaluationBody,
): Evaluated[] => [
  ...known.filter((one) => one.after !== after || one.step !== step),
  { after, step, cells },
];
