// When graders are down: the trainer waits and asks again about what could not be scored, rather than train on what is left
// or on a placeholder. After its limit it gives up, and the job is paused (decision 0010).
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { durationMs } from '../../api/contract/names.ts';
import type { Graded } from './graded.ts';

/** No grader came back within `rewards.timeout`. */
export class RewardUnavailable extends Error {
  override readonly name = 'RewardUnavailable';
}

/** Time, as the process has it. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Throws Paused where the run is asked to pause meanwhile. */
  wait(ms: number): Promise<void>;
}

export interface GradingPlace {
  readonly stage: string;
  readonly step: number | null;
  readonly suite: string | null;
}

export interface OutagePolicy {
  readonly rewards: ExpandedSpec['rewards'];
  readonly clock: Clock;
  readonly emit: (entry: Entry) => void;
  /** Called for every answer graded: slow graders are no stall. */
  readonly alive: () => void;
}

/** What a run waits by. */
export const outageOf = (
  { rewards }: Pick<ExpandedSpec, 'rewards'>,
  host: Pick<OutagePolicy, 'clock' | 'emit' | 'alive'>,
): OutagePolicy => ({
  rewards,
  clock: host.clock,
  emit: (entry) => host.emit(entry),
  alive: () => host.alive(),
});

const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

/** An answer graded: a rollout, or a row's own gold. */
type Outcome = Pick<Graded, 'outcome' | 'reward'>;

const isUnscored = ({ reward }: Outcome): boolean => reward === null;

/**
 * `graded` with what was unscored graded again until at most `unscored_at_most` of it is unscored; anything unscored is asked
 * about a second time at once. Throws RewardUnavailable after `rewards.timeout`.
 */
export async function outlastOutage<One extends Outcome>(
  graded: readonly One[],
  again: (unscored: One) => Promise<One>,
  place: GradingPlace,
  { rewards, clock, emit }: Pick<OutagePolicy, 'rewards' | 'clock' | 'emit'>,
): Promise<One[]> {
  const regrade = (all: readonly One[]) =>
    Promise.all(all.map(async (one) => (isUnscored(one) ? await again(one) : one)));
  const share = (all: readonly One[]): number => all.filter(isUnscored).length / all.length;
  if (share(graded) === 0) return [...graded];
  let current = await regrade(graded);
  const began = clock.now();
  for (let waitMs = firstWaitMs; share(current) > rewards.unscored_at_most;) {
    if (waitMs === firstWaitMs) emit({ type: 'reward_waiting', ...place, ...summary(current) });
    const left = began + durationMs(rewards.timeout) - clock.now();
    if (left <= 0) throw new RewardUnavailable(unavailable(current, place, rewards.timeout));
    await clock.wait(Math.min(waitMs, left));
    waitMs = Math.min(2 * waitMs, longestWaitMs);
    current = await regrade(current);
    if (share(current) <= rewards.unscored_at_most)
      emit({ type: 'reward_resumed', ...place, waited_s: (clock.now() - began) / 1000 });
  }
  return current;
}

/** How many are unscored, and what most of them say. */
function summary(graded: readonly Outcome[]) {
  const outcomes = graded.flatMap(({ outcome }) => (outcome.status === 'unscored' ? [outcome] : []));
  const counts = new Map<string, number>();
  for (const { code } of outcomes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const [code = 'unknown'] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  const detail = outcomes.find((outcome) => outcome.code === code)?.detail ?? null;
  return { unscored: outcomes.length, of: graded.length, code, detail: detail?.slice(0, 1000) ?? null };
}

function unavailable(
  graded: readonly Outcome[],
  { stage, step, suite }: GradingPlace,
  limit: string,
): string {
  const { unscored, of, code, detail } = summary(graded);
  const where =
    suite === null
      ? `stage ${stage}, ${step === null ? 'gold' : `step ${step}`}`
      : `suite ${suite} ${step === null ? `after ${stage}` : `in stage ${stage} after step ${step}`}`;
  return (
    `${where}: for ${limit} (rewards.timeout) the grader has not scored ${unscored} of ${of} answers: ${code}` +
    `${detail === null ? '' : ` (${detail})`}; nothing was learnt from them. Mend the grader, then resume the job`
  );
}
