// The log of an attempt as clients read it: its last mebibyte.
import { and, asc, desc, eq } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { attempts, logPieces } from '../schema.ts';
import { logLimit } from './append.ts';

export interface Log {
  attempt: number;
  text: string;
  /** Bytes before `text` that are no longer kept. */
  dropped: number;
}

/** The log of one attempt, by default the latest; undefined if there is no such attempt. */
export async function readLog(db: Database, jobId: string, attempt?: number): Promise<Log | undefined> {
  const which = attempt === undefined ? undefined : eq(attempts.attempt, attempt);
  const [row] = await db
    .select({ attempt: attempts.attempt, end: attempts.logBytes })
    .from(attempts)
    .where(and(eq(attempts.jobId, jobId), which))
    .orderBy(desc(attempts.attempt))
    .limit(1);
  if (row === undefined) return undefined;
  const pieces = await db
    .select({ text: logPieces.text })
    .from(logPieces)
    .where(and(eq(logPieces.jobId, jobId), eq(logPieces.attempt, row.attempt)))
    .orderBy(asc(logPieces.start));
  const kept = lastBytes(pieces.map((piece) => piece.text).join(''), logLimit);
  return { attempt: row.attempt, text: kept, dropped: row.end - Buffer.byteLength(kept) };
}

// Cut between characters: a continuation byte (10xxxxxx) never starts the text.
function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let start = bytes.length - limit;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString();
}
