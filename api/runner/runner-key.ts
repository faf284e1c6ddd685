// Whose key a runner's call came with. With the scope `shared_runner` it speaks for a runner of every project, whatever other scopes
// the key has; no other key does, not even an admin's.
import type { RunnerKey } from '../../db/runners.ts';
import type { Caller } from '../middleware/auth.ts';

export const runnerKey = ({ projectId, scopes }: Caller): Required<RunnerKey> => ({
  projectId,
  shared: scopes.includes('shared_runner'),
});
