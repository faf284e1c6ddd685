// The log of an attempt is kept in pieces: appending rewrites nothing, and what lies wholly before
// the last mebibyte is dropped.
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { storableText } from '../json.ts';
import { attempts, logPieces } from '../schema.ts';

/** Bytes of log that are kept of each attempt. */
export const logLimit = 1024 * 1024;

/** Appends in the caller's transaction, which has locked the job. */
export async function appendLog(
  tx: Database,
  of: { job: string; attempt: number },
  log: string,
): Promise<void> {
  if (log === '') return;
  const text = storableText(log);
  const bytes = Buffer.byteLength(text);
  const [row] = await tx
    .update(attempts)
    .set({ logBytes: sql`${attempts.logBytes} + ${bytes}` })
    .where(and(eq(attempts.jobId, of.job), eq(attempts.attempt, of.attempt)))
    .returning({ end: attempts.logBytes, projectId: attempts.projectId });
  if (row === undefined) throw new Error(`internal: job ${of.job} has no row for its attempt ${of.attempt}`);
  const piece = { jobId: of.job, attempt: of.attempt, projectId: row.projectId };
  await tx.insert(logPieces).values({ ...piece, start: row.end - bytes, bytes, text });
  await tx
    .delete(logPieces)
    .where(
      and(
        eq(logPieces.jobId, of.job),
        eq(logPieces.attempt, of.attempt),
        sql`${logPieces.start} + ${logPieces.bytes} <= ${row.end - logLimit}`,
      ),
    );
}
