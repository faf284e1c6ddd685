// A process of the API that stands still in the middle of a transaction, as one does that was stopped or whose network is gone: what
// it has locked is free again while the runner still has its lease.
import { expect, test } from 'vitest';
import { classify } from '../../api/on-error.ts';
import { connect, sessionOf } from '../../db/connect.ts';
import { lockHeld } from '../../db/queue/fence.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { useDatabase } from '../support/postgres.ts';
import { leaseMs, runningJob } from './support.ts';

const pg = useDatabase();

test('a transaction that is silent for half a lease holds up no heartbeat any more', async () => {
  const { fence } = await runningJob(pg.db);
  const stoppable = connect(pg.url, 1, sessionOf(600));
  const [locked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = stoppable.db
    .transaction(async (tx) => {
      await lockHeld(tx, fence);
      locked.resolve();
      await goesOn.promise;
      return await lockHeld(tx, fence);
    })
    .catch((error: unknown) => classify(error));
  await locked.promise;
  expect(await heartbeat(pg.db, { ...fence, leaseMs })).toBe('continue');
  goesOn.resolve();
  // Whoever still waits for it is told to ask again.
  expect(await transaction).toMatchObject({ code: 'database_unavailable' });
  await stoppable.close();
});
