// The end of an attempt at an errand, for whatever cause, in the caller's transaction: results are kept, a dataset becomes
// ready or invalid, what was nobody's fault goes back to the queue. The errand's row must be locked by the caller.
import { eq, sql } from 'drizzle-orm';
import type { ErrandOutcome, ErrandState } from '../../api/contract/errand.ts';
import { notifyNews } from '../events/listen.ts';
import type { Database } from '../connect.ts';
import { decideDataset, explainWaiting } from '../datasets/decide.ts';
import { errands } from './table.ts';
import type { HeldErrand } from './hold.ts';

/** The first try again waits this long; each further one doubles it, up to the cap. */
const againDelay = { firstMs: 1_000, capMs: 300_000 };

/** Returns where the errand went. */
export async function endErrand(
  tx: Database,
  errand: HeldErrand,
  outcome: ErrandOutcome,
): Promise<ErrandState> {
  const { id, datasetId } = errand;
  if (outcome.type === 'again') {
    if (datasetId !== null) await explainWaiting(tx, datasetId, outcome.message);
    return await requeueErrand(tx, errand, outcome);
  }
  const failure = outcome.type === 'failed' ? outcome : undefined;
  const state = failure === undefined ? 'succeeded' : 'failed';
  await tx
    .update(errands)
    .set({
      state,
      results: outcome.type === 'graded' ? outcome.results : null,
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
      leaseExpiresAt: null,
      finishedAt: sql`now()`,
    })
    .where(eq(errands.id, id));
  if (datasetId !== null && outcome.type === 'validated') await decideDataset(tx, datasetId, outcome.report);
  if (datasetId !== null && failure !== undefined) await decideDataset(tx, datasetId, failure.message);
  await notifyNews(tx, id);
  return state;
}

/** Back to the queue; a runner that merely stopped keeps nobody waiting. */
export async function requeueErrand(
  tx: Database,
  { id, attempt, lostLeases }: Pick<HeldErrand, 'id' | 'attempt' | 'lostLeases'>,
  { reason, message }: { reason: string; message: string },
): Promise<'queued'> {
  const delayMs =
    reason === 'runner_stopped' || reason === 'runner_lost'
      ? 0
      : Math.min(againDelay.firstMs * 2 ** Math.min(attempt - 1, 20), againDelay.capMs);
  await tx
    .update(errands)
    .set({
      state: 'queued',
      message,
      lostLeases,
      runnerId: null,
      leaseExpiresAt: null,
      availableAt: sql`now() + ${delayMs} * interval '1 millisecond'`,
    })
    .where(eq(errands.id, id));
  return 'queued';
}
