// The first half of a step: which tasks, the policy's rollouts of them and, where rewards are mixed in, what these are worth, graded
// while the others are still being decoded. No penalty changes these rewards: the rollouts are the teacher's to judge.
import type { DrawKey } from '../../engine/random/draws.ts';
import { drawKey } from '../../engine/random/draws.ts';
import { sampleGroups } from '../rollout.ts';
import type { Rollout } from '../rollout.ts';
import type { TaskGroup } from '../rl/group.ts';
import { quotasOf, requestsOf } from '../rl/group-request.ts';
import type { GroupRequest } from '../rl/group-request.ts';
import { judge } from '../rl/judge.ts';
import type { JudgedGroup } from '../rl/judge.ts';
import { sampleRound } from '../rl/sample-round.ts';
import type { RoundTimes } from '../rl/sample-round.ts';
import type { DistillStepOptions } from './options.ts';
import type { DistilledSource } from './sources.ts';

export interface SampledGroup extends TaskGroup<DistilledSource> {
  readonly rollouts_G: readonly Rollout[];
  /** With rewards: of the same rollouts. */
  readonly judged: JudgedGroup | undefined;
}

/** Of one prompt of one source. */
export interface SampledRollout extends Pick<SampledGroup, 'source' | 'mode'> {
  readonly rollout: Rollout;
  /** Its reward, group-normalised; 0 where nothing was graded or nothing could be scored. */
  readonly reward: number;
}

export interface SampledBatch {
  readonly groups_P: readonly SampledGroup[];
  readonly times: Pick<RoundTimes, 'time_sample'> & Partial<RoundTimes>;
}

/** Takes from `lines`, which are the caller's to keep or to drop. Throws RewardUnavailable, Diverged. */
export async function sampleBatch(options: DistillStepOptions, step: number): Promise<SampledBatch> {
  const { stage, seed, sources, sharesAt } = options;
  const requests_P = requestsOf(options, quotasOf(sources, sharesAt(step)), { step, round: 0 });
  const key = drawKey(seed, `rollouts/${stage.name}`, step);
  const graded_P = requests_P.map(({ source, ...request }) => ({ ...request, source: source.graded }));
  return graded_P.every(isGraded)
    ? await sampleGraded(options, requests_P, graded_P, key)
    : await sampleUngraded(options, requests_P, key);
}

type Requested = GroupRequest<DistilledSource>;

const isGraded = (request: Omit<Requested, 'source'> & { source: unknown }): request is GroupRequest =>
  request.source !== undefined;

async function sampleUngraded(
  { policy, stage }: DistillStepOptions,
  requests_P: readonly Requested[],
  key: DrawKey,
): Promise<SampledBatch> {
  const started = performance.now();
  const prompts_P = requests_P.map(({ source, mode, task }) => source.prompts.get(mode)![task]!);
  const { rollouts, temperature, max_response: maxResponse } = stage;
  const rollouts_PG = await sampleGroups(policy, prompts_P, { rollouts, temperature, maxResponse }, key);
  return {
    groups_P: requests_P.map((request, p) => ({
      ...request,
      rollouts_G: rollouts_PG[p]!,
      judged: undefined,
    })),
    times: { time_sample: (performance.now() - started) / 1000 },
  };
}

/** Draws are those of the sampler, untruncated: what is learnt from is compared with whole distributions. */
const untruncated = { top_k: 0, top_p: 1, min_p: 0 };

async function sampleGraded(
  options: DistillStepOptions,
  requests_P: readonly Requested[],
  graded_P: readonly GroupRequest[],
  key: DrawKey,
): Promise<SampledBatch> {
  const { temperature, max_response } = options.stage;
  const phase = { ...untruncated, temperature, max_response };
  const round = await sampleRound(options, graded_P, phase, { key, first: 0 });
  const groups_P = round.groups_P.map((group, p) => {
    const plain_G = group.rollouts_G.map((one) => ({ ...one, inLoss: true, penalties: {} }));
    const judged = { ...group, ...judge(plain_G) };
    return { ...requests_P[p]!, rollouts_G: plain_G.map(({ rollout }) => rollout), judged };
  });
  return { groups_P, times: round.times };
}

/** Of all groups, in the order of the batch. */
export const rolloutsOf = (groups_P: readonly SampledGroup[]): SampledRollout[] =>
  groups_P.flatMap(({ source, mode, rollouts_G, judged }) =>
    rollouts_G.map((rollout, g) => ({
      source,
      mode,
      rollout,
      reward: judged?.rollouts_G[g]?.advantage ?? 0,
    })),
  );
