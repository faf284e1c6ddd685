// Resume is exact and no failure of ours is a reward: whatever was done to a job that succeeded, its steps, series, matrix and last
// weights are those of the same job that nobody disturbed.
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../../api/client.ts';
import type { JobEvent } from '../../../api/contract/event.ts';
import type { RunRecord } from '../../support/run-record.ts';
import { recordOf } from '../../support/run-record.ts';

export interface Finished {
  readonly id: string;
  readonly name: string;
}

export async function recordOfJob(client: Client, job: string): Promise<RunRecord> {
  const events: JobEvent[] = [];
  for await (const event of client.all((query) => client.eventsPage(job, query), { limit: 1000 }))
    events.push(event);
  return await recordOf(client, job, events);
}

/** `undisturbed`: by the job's name. */
export async function twinBreaches(
  client: Client,
  finished: readonly Finished[],
  undisturbed: ReadonlyMap<string, RunRecord>,
): Promise<string[]> {
  const breaches: string[] = [];
  for (const { id, name } of finished) {
    const [twin, record] = [undisturbed.get(name), await recordOfJob(client, id)];
    if (twin === undefined) continue;
    for (const part of ['steps', 'series', 'evaluations'] as const)
      if (!isDeepStrictEqual(plain(record[part]), plain(twin[part])))
        breaches.push(
          `${id} (${name}): ${part} are not those of the undisturbed twin: ${firstOf(record[part], twin[part])}`,
        );
    // A pause keeps a checkpoint of its own beside those of the twin.
    for (const [at, files] of Object.entries(twin.checkpoints))
      if (!isDeepStrictEqual(record.checkpoints[at], files))
        breaches.push(`${id} (${name}): checkpoint ${at} is not that of the undisturbed twin`);
  }
  return breaches;
}

const plain = (part: readonly unknown[]): unknown => JSON.parse(JSON.stringify(part));

function firstOf(part: readonly unknown[], twin: readonly unknown[]): string {
  const at = part.findIndex((one, index) => !isDeepStrictEqual(plain([one]), plain([twin[index]])));
  return at < 0
    ? `${part.length} in place of ${twin.length}`
    : `${JSON.stringify(part[at])} in place of ${JSON.stringify(twin[at])}`;
}
