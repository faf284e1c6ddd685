// One round of a step: rollouts of the tasks asked for, by the policy as it stands, each graded from the moment it is complete while
// the others are still being decoded. Nothing of it outlives the round: no reward is ever of another policy.
import type { Phase } from '../../../api/contract/stages/phase.ts';
import type { Truncation } from '../../../api/contract/truncation.ts';
import type { DrawKey } from '../../engine/random/draws.ts';
import { BatchGrading } from '../batch-grading.ts';
import { sampleGroups, truncationOf } from '../rollout.ts';
import { EndedRollouts } from './ended-rollouts.ts';
import type { GradedGroup } from './group.ts';
import type { GroupRequest } from './group-request.ts';
import type { StepOptions } from './options.ts';

export interface Round {
  /** In the order of the requests. */
  readonly groups_P: readonly GradedGroup[];
  readonly times: RoundTimes;
}

/** Seconds; metrics of the step by these names. */
export interface RoundTimes {
  /** Until the last token. */
  readonly time_sample: number;
  /** What grading took beyond that. */
  readonly time_score: number;
  /** Seconds in which at least one answer was being graded. */
  readonly time_score_total: number;
}

export interface Sampling extends Pick<StepOptions, 'policy' | 'outage'> {
  readonly stage: Pick<StepOptions['stage'], 'name' | 'rollouts'>;
}

/** `first`: prompts that this step has sampled before. Throws RewardUnavailable, Diverged. */
export async function sampleRound(
  { policy, stage, outage }: Sampling,
  requests_P: readonly GroupRequest[],
  phase: Pick<Phase, 'temperature' | 'max_response'> & Truncation,
  { key, first }: { readonly key: DrawKey; readonly first: number },
): Promise<Round> {
  const started = performance.now();
  const grading = new BatchGrading({ stage: stage.name, step: key.step, suite: null }, outage);
  const prompts_P = requests_P.map(({ source, mode, task }) => source.prompts.get(mode)![task]!);
  const sampling = {
    rollouts: stage.rollouts,
    temperature: phase.temperature,
    maxResponse: phase.max_response,
    ...truncationOf(phase),
  };
  const ended = new EndedRollouts(requests_P, stage.rollouts, grading);
  await sampleGroups(policy, prompts_P, sampling, key, {
    first,
    onRollout: (rollout, p, g) => ended.add({ rollout, p, g }),
  });
  const sampled = performance.now();
  ended.close();
  const graded_PG = await grading.end();
  return {
    groups_P: requests_P.map((request, p) => ({ ...request, rollouts_G: graded_PG[p]! })),
    times: {
      time_sample: (sampled - started) / 1000,
      time_score: (performance.now() - sampled) / 1000,
      time_score_total: grading.busySeconds,
    },
  };
}
