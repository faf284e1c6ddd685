// How long a job took, as its service tells it.
import type { Client } from '../../api/client.ts';

/** From its first claim to its end; where it was interrupted, the time in between is in it. */
export async function secondsOf({ client }: { readonly client: Client }, job: string): Promise<number> {
  const { started_at, finished_at } = await client.job(job);
  return (Date.parse(finished_at!) - Date.parse(started_at!)) / 1000;
}
