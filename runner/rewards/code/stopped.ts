// Whose fault an odd end of a run is. A limit that the answer broke counts against it only while the canary, a program known
// to be good, passes under the same conditions; else the rollout is not scored.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { Reward } from '../reward.ts';
import { invalid, scored, unscored } from '../reward.ts';
import type { Run, Sandbox, StoppedBy } from '../sandbox/sandbox.ts';

export type Parts = Readonly<Record<'passed' | 'tests', number>>;
type Stopped = Extract<Run, { status: 'stopped' }>;

const causes: Readonly<Record<StoppedBy, string>> = {
  cpu: 'CPU time limit',
  wall: 'time limit',
  memory: 'memory limit',
  output: 'output limit',
  signal: 'ended by a signal',
};

export const isStopped = (run: Run): run is Stopped => run.status === 'stopped';

export const down = (cause: string): Reward => unscored('sandbox_down', cause);

/** `blamed` if the canary passes. */
export async function unlessOurs(sandbox: Sandbox, language: CodeLanguage, blamed: Reward): Promise<Reward> {
  const fault = await sandbox.canary(language);
  return fault === undefined ? blamed : down(`the canary fails too: ${fault}`);
}

/** Too slow is `invalid`, too greedy or crashed is a failed test. */
export const stoppedReward = (by: StoppedBy, parts: Parts, where: string): Reward =>
  by === 'cpu' || by === 'wall'
    ? invalid('timeout', 0, `${where}: ${causes[by]}`)
    : scored(0, parts, `${where}: ${causes[by]}`);
