// Committed checkpoints as clients ask for them.
import { and, eq } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from '../page.ts';
import { checkpoints, type CheckpointRow } from '../schema.ts';

/** Undefined if the project has no such checkpoint. */
export async function getCheckpoint(
  db: Database,
  projectId: string,
  id: string,
): Promise<CheckpointRow | undefined> {
  const owned = and(eq(checkpoints.projectId, projectId), eq(checkpoints.id, id));
  const [row] = await db.select().from(checkpoints).where(owned);
  return row;
}

/** The same; it is not deleted before the transaction ends. */
export async function keepCheckpoint(
  tx: Database,
  projectId: string,
  id: string,
): Promise<CheckpointRow | undefined> {
  const owned = and(eq(checkpoints.projectId, projectId), eq(checkpoints.id, id));
  const [row] = await tx.select().from(checkpoints).where(owned).for('share');
  return row;
}

/** Of one job, newest first. */
export async function listCheckpoints(
  db: Database,
  projectId: string,
  jobId: string,
  query: PageQuery,
): Promise<PageOf<CheckpointRow>> {
  const { where, order, take } = pageWindow(checkpoints.id, query);
  const ofJob = and(eq(checkpoints.projectId, projectId), eq(checkpoints.jobId, jobId), where);
  return toPage(await db.select().from(checkpoints).where(ofJob).orderBy(order).limit(take), query);
}
