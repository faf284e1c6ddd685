// Everything that a finished job has said.
import type { Client } from '../../../api/client.ts';
import type { JobEvent } from '../../../api/contract/event.ts';
import type { RunRecord } from '../report/record.ts';
import { recordOf } from '../report/record.ts';

export async function eventsOf(client: Client, job: string): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of client.all((query) => client.eventsPage(job, { limit: 1000, ...query })))
    events.push(event);
  return events;
}

export async function recordOfJob(client: Client, job: string): Promise<RunRecord> {
  const [{ expanded }, events] = await Promise.all([client.job(job), eventsOf(client, job)]);
  return recordOf(expanded, events);
}
