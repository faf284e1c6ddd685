// What a report knows of a cascade: its stages step by step, and its evaluations. A fold over the job's events; pure.
import type { EvaluationCell, JobEvent } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { isReinforced } from '../../../api/contract/stage-kinds.ts';

export interface StepRecord {
  readonly step: number;
  readonly reward: number | null;
  readonly loss: number | null;
  /** Mean tokens of a response. */
  readonly length: number | null;
}

export interface StageRecord {
  readonly name: string;
  readonly domain: string;
  /** Whether it is to raise its own domain: an RL stage. */
  readonly reinforced: boolean;
  readonly steps: readonly StepRecord[];
  /** From its first step to its last, by the events' own time; attempts that were lost are in it. */
  readonly seconds: number;
}

export interface EvaluationRecord {
  /** A stage's name, or `initial`. */
  readonly after: string;
  readonly cells: readonly EvaluationCell[];
}

export interface RunRecord {
  readonly stages: readonly StageRecord[];
  /** At the ends of stages. */
  readonly evaluations: readonly EvaluationRecord[];
}

/** `events` in their order. A step, and an evaluation, that was done again after a resume counts once, as done last. */
export const recordOf = (spec: ExpandedSpec, events: readonly JobEvent[]): RunRecord => ({
  stages: spec.stages.map((stage) => ({
    name: stage.name,
    domain: stage.domain,
    reinforced: isReinforced(stage),
    ...stepsOf(stage.name, events),
  })),
  evaluations: evaluationsOf(events),
});

function stepsOf(stage: string, events: readonly JobEvent[]): Pick<StageRecord, 'steps' | 'seconds'> {
  const steps = new Map<number, StepRecord>();
  let [first, last] = [Infinity, -Infinity];
  for (const { body, created_at } of events) {
    if ((body.type !== 'step' && body.type !== 'step_skipped') || body.stage !== stage) continue;
    const { metrics, step } = body;
    const of = (key: string): number | null => metrics[key] ?? null;
    steps.set(step, { step, reward: of('reward'), loss: of('loss'), length: of('response_length') });
    first = Math.min(first, Date.parse(created_at));
    last = Math.max(last, Date.parse(created_at));
  }
  return {
    steps: [...steps.values()].sort((a, b) => a.step - b.step),
    seconds: Math.max(0, (last - first) / 1000),
  };
}

function evaluationsOf(events: readonly JobEvent[]): EvaluationRecord[] {
  const ends = new Map<string, EvaluationRecord>();
  for (const { body } of events)
    if (body.type === 'evaluation' && (body.step ?? null) === null)
      ends.set(body.after, { after: body.after, cells: body.cells });
  return [...ends.values()];
}
