// The runner's last word about an errand. A resend of a last word is answered as the first was.
import { and, isNotNull } from 'drizzle-orm';
import type { ErrandOutcome, ErrandState } from '../../api/contract/errand.ts';
import type { Database } from '../connect.ts';
import type { LeaseLost } from '../queue/fence.ts';
import { errands } from './table.ts';
import { endErrand } from './end.ts';
import { isOf, lockHeldErrand, type ErrandFence, type HeldErrand } from './hold.ts';

/** `unfitting`: the outcome is none that this errand can have. */
export async function finishErrand(
  db: Database,
  fence: ErrandFence,
  outcome: ErrandOutcome,
): Promise<{ state: ErrandState } | LeaseLost | 'unfitting'> {
  return await db.transaction(async (tx) => {
    const errand = await lockHeldErrand(tx, fence);
    if (errand === 'lease_lost') return await formerFinish(tx, fence);
    if (!fits(errand, outcome)) return 'unfitting';
    return { state: await endErrand(tx, errand, outcome) };
  });
}

function fits({ kind, items }: HeldErrand, outcome: ErrandOutcome): boolean {
  if (outcome.type === 'validated') return kind === 'validate';
  if (outcome.type !== 'graded') return true;
  const { results } = outcome;
  return kind === 'grade' && results.length === items && results.every(({ index }, at) => index === at);
}

async function formerFinish(tx: Database, fence: ErrandFence): Promise<{ state: ErrandState } | LeaseLost> {
  const [row] = await tx
    .select({ state: errands.state })
    .from(errands)
    .where(and(isOf(fence), isNotNull(errands.finishedAt)));
  return row ?? 'lease_lost';
}
