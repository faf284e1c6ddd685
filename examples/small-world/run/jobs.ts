// The jobs of a run of the small world, found by their labels: one that was posted before is followed, not posted again, so that a run
// that was killed goes on where it was.
import type { Client } from '../../../api/client.ts';
import type { Job } from '../../../api/contract/job.ts';
import { chooseCheckpoint } from '../../../cli/pull/choose.ts';
import type { Screen } from '../../../cli/screen.ts';
import type { SpecFile } from '../../../cli/submit/spec-file.ts';
import { submitSpec } from '../../../cli/submit/submit.ts';
import { UserError } from '../../../cli/user-error.ts';
import { endLine, followEvents } from '../../../cli/watch/follow.ts';
import { backboneSpec, cascadeSpec, rewardModelSpec, wantsBackbone, wantsRewardModel } from './specs.ts';
import type { WorldFiles } from './specs.ts';

/** What every job of a run needs. */
export interface Run {
  readonly client: Client;
  readonly screen: Screen;
  readonly interrupt: AbortSignal;
  readonly world: WorldFiles;
  readonly seed: number;
  /** Tells runs of one seed apart: of another commit, say. */
  readonly run: string;
}

/** The name of the label that tells the jobs of a run apart. */
const label = 'small-world';

/** `part` names the job within its run. */
export const seededOf = ({ seed, run }: Run, part: string) => ({
  seed,
  labels: { [label]: `${run}.seed-${seed}.${part}` },
});

/** The reward model's checkpoint, trained where it is not yet; undefined where the cascade wants none. */
export async function rewardModelOf(run: Run): Promise<string | undefined> {
  if (!wantsRewardModel(run.world)) return undefined;
  const seeded = seededOf(run, 'reward-model');
  const backbone = wantsBackbone(run.world) ? await backboneOf(run) : undefined;
  const job = await succeeded(run, seeded.labels, () => rewardModelSpec(run.world, seeded, backbone));
  return (await chooseCheckpoint(run.client, job)).id;
}

async function backboneOf(run: Run): Promise<string> {
  const seeded = seededOf(run, 'backbone');
  const job = await succeeded(run, seeded.labels, () => backboneSpec(run.world, seeded));
  return (await chooseCheckpoint(run.client, job)).id;
}

/** The id of the cascade's job, succeeded. */
export function trainedCascade(run: Run, rewardModel: string | undefined): Promise<string> {
  const seeded = seededOf(run, 'cascade');
  return succeeded(run, seeded.labels, () => cascadeSpec(run.world, seeded, rewardModel));
}

/**
 * Follows the job of these labels to its good end, posting it first where there is none. One that failed or was cancelled is
 * posted anew. @throws UserError where it ends otherwise; the interrupt's reason.
 */
export async function succeeded(
  { client, screen, interrupt }: Run,
  labels: Readonly<Record<string, string>>,
  specOf: () => SpecFile,
): Promise<string> {
  const known = await liveJob(client, labels[label]!);
  if (known?.state === 'paused') await client.resumeJob(known.id);
  const { id } = known ?? (await submitSpec(client, specOf(), (text) => screen.line(text)));
  screen.line(`${labels[label]}: ${id}${known === undefined ? '' : ` (${known.state} when it was found)`}`);
  if (known?.state === 'succeeded') return id;
  const view = await followEvents(client, id, screen, interrupt);
  if (view === undefined) throw interrupt.reason;
  if (view.state !== 'succeeded') throw new UserError(endLine(id, view));
  return id;
}

/** The newest job of the label that has not ended badly. */
async function liveJob(client: Client, value: string): Promise<Job | undefined> {
  for await (const job of client.all((query) => client.jobs({ ...query, label: `${label}:${value}` })))
    if (!['failed', 'cancelled', 'cancelling'].includes(job.state)) return job;
  return undefined;
}
