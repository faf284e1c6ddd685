// Whoever starts a service for one purpose, clears and stops it: never on a database or a store of somebody else.
import type { Client } from '../../api/client.ts';
import { isTerminal } from '../../api/contract/job.ts';
import { UserError } from '../user-error.ts';

/** `who` starts them, as its complaint begins. @throws UserError */
export function refuseForeignServices(env: NodeJS.ProcessEnv, who: string): void {
  const given = ['DATABASE_URL', 'STORE_URL'].filter((name) => env[name] !== undefined && env[name] !== '');
  if (given.length === 0) return;
  throw new UserError(`${who} starts a database and a store of its own: unset ${given.join(' and ')} for it`);
}

/** A run that was killed may have left its job: it would be trained first. The service must be the caller's own. */
export async function cancelLeftJobs(client: Client): Promise<void> {
  for await (const job of client.all((query) => client.jobs(query)))
    if (!isTerminal(job.state) && job.state !== 'cancelling') await client.cancelJob(job.id);
}
