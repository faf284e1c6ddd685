// A key sees its own project only: what a key of another project is answered about things of this one.
import { ApiError } from '../../../api/client.ts';
import type { Client } from '../../../api/client.ts';

export interface Seen {
  readonly jobs: readonly string[];
  readonly checkpoints: readonly string[];
}

/** One sentence for each answer that tells something. */
export async function strangerBreaches(stranger: Client, { jobs, checkpoints }: Seen): Promise<string[]> {
  const breaches: string[] = [];
  const refused = async (what: string, ask: () => Promise<unknown>): Promise<void> => {
    const answer = await ask().then(
      () => 'an answer',
      (error: unknown) => (error instanceof ApiError && error.status === 404 ? undefined : String(error)),
    );
    if (answer !== undefined) breaches.push(`a stranger asking for ${what} gets ${answer}`);
  };
  for (const list of ['jobs', 'datasets', 'runners'] as const) {
    const { data } = await stranger[list]();
    if (data.length > 0) breaches.push(`a stranger sees ${data.length} ${list}`);
  }
  for (const job of jobs) {
    await refused(`job ${job}`, () => stranger.job(job));
    await refused(`events of ${job}`, () => stranger.eventsPage(job));
    await refused(`checkpoints of ${job}`, () => stranger.checkpoints(job));
    await refused(`a cancel of ${job}`, () => stranger.cancelJob(job));
  }
  for (const checkpoint of checkpoints) {
    await refused(`checkpoint ${checkpoint}`, () => stranger.checkpoint(checkpoint));
    await refused(`files of ${checkpoint}`, () => stranger.checkpointFile(checkpoint, 'config.json'));
  }
  return breaches;
}
