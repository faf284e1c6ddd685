// How long the parts of an undisturbed run took: random moments are shares of these.
import type { EventBody, JobEvent } from '../../api/contract/event.ts';
import type { Moment, PlannedStage } from './plan.ts';

export interface Pace {
  readonly stages: readonly PlannedStage[];
  /** Milliseconds. */
  of(stage: string, moment: Moment): number;
}

type Test = (body: EventBody) => boolean;

/** Of a run of one attempt. */
export function paceOf(events: readonly JobEvent[]): Pace {
  const timeOf = (test: Test): number | undefined => {
    const found = events.find(({ body }) => test(body));
    return found && Date.parse(found.created_at);
  };
  const between = (from: Test, to: Test): number => Math.max(0, (timeOf(to) ?? 0) - (timeOf(from) ?? 0));
  const stages = events.flatMap(({ body }) =>
    body.type === 'stage_started' ? [{ name: body.stage, steps: body.steps }] : [],
  );
  const started =
    (stage: string): Test =>
    (body) =>
      body.type === 'stage_started' && body.stage === stage;
  const finished =
    (stage: string): Test =>
    (body) =>
      body.type === 'stage_finished' && body.stage === stage;
  const evaluated =
    (after: string): Test =>
    (body) =>
      body.type === 'evaluation' && body.after === after && (body.step ?? null) === null;
  const start = between(({ type }) => type === 'attempt_started', evaluated('initial'));
  return {
    stages,
    of(stage, moment) {
      if (moment === 'start') return start;
      if (moment === 'evaluation') return between(finished(stage), evaluated(stage));
      const { steps } = stages.find(({ name }) => name === stage)!;
      return between(started(stage), finished(stage)) / steps;
    },
  };
}
