// Idempotency-Key: the first answer to a key is the answer to every resend. The key's row is inserted
// first, in the transaction that does the work: a second caller with the same key waits at the
// unique index until the first has committed (and gets its answer) or failed (and takes its place).
import { and, eq } from 'drizzle-orm';
import type { Database } from './connect.ts';
import { idempotencyKeys } from './schema.ts';

export interface Request {
  projectId: string;
  key: string;
  /** Hash over method, path and body. */
  hash: string;
}

export interface Answer {
  status: number;
  body: unknown;
}

export type Once = { kind: 'first' | 'replayed'; answer: Answer } | { kind: 'conflict' };

/**
 * Does the work unless this key was answered before. `conflict`: the key was used for another request.
 * If the work throws, nothing stays, not even the key.
 */
export async function once(
  db: Database,
  request: Request,
  work: (tx: Database) => Promise<Answer>,
): Promise<Once> {
  return await db.transaction(async (tx) => {
    const taken = await takeKey(tx, request);
    if (!taken) return await formerAnswer(tx, request);
    const answer = await work(tx);
    await keepAnswer(tx, request, answer);
    return { kind: 'first', answer };
  });
}

async function takeKey(tx: Database, request: Request): Promise<boolean> {
  const rows = await tx
    .insert(idempotencyKeys)
    .values({ projectId: request.projectId, key: request.key, requestHash: request.hash })
    .onConflictDoNothing()
    .returning({ key: idempotencyKeys.key });
  return rows.length > 0;
}

async function formerAnswer(tx: Database, request: Request): Promise<Once> {
  const [row] = await tx.select().from(idempotencyKeys).where(isKey(request));
  if (row === undefined || row.status === null) {
    throw new Error(`internal: idempotency key ${request.key} was taken and has no answer`);
  }
  if (row.requestHash !== request.hash) return { kind: 'conflict' };
  return { kind: 'replayed', answer: { status: row.status, body: row.response } };
}

async function keepAnswer(tx: Database, request: Request, answer: Answer): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set({ status: answer.status, response: answer.body })
    .where(isKey(request));
}

function isKey(request: Request) {
  return and(eq(idempotencyKeys.projectId, request.projectId), eq(idempotencyKeys.key, request.key));
}
