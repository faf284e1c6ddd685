// Idempotency-Key on calls that create: the first answer to a key is the answer to every resend of the same request.
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Database } from '../db/connect.ts';
import type { Answer } from '../db/idempotency.ts';
import { once } from '../db/idempotency.ts';
import { issuesOf } from './contract/issues.ts';
import { inWords, ProblemError } from './problem.ts';

export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
    .optional()
    .describe('The same key and request gives the first answer again'),
});

export interface Keyed {
  readonly projectId: string;
  readonly key: string | undefined;
  /** What makes two requests the same. */
  readonly request: readonly (string | Uint8Array)[];
}

/** Does the work once for each key; without a key, every time. @throws ProblemError idempotency_conflict. */
export async function answerOnce(
  db: Database,
  keyed: Keyed,
  work: (tx: Database) => Promise<Answer>,
): Promise<Answer> {
  if (keyed.key === undefined) return db.transaction(work);
  const hash = hashOf(keyed.request);
  const result = await once(db, { projectId: keyed.projectId, key: keyed.key, hash }, work);
  if (result.kind === 'conflict')
    throw new ProblemError(
      'idempotency_conflict',
      'this Idempotency-Key was used for another request: take a new key for a new request',
    );
  return result.answer;
}

function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}

/** The key of a request that the router does not validate. @throws ProblemError invalid_header. */
export function idempotencyKeyOf(c: {
  req: { header(name: string): string | undefined };
}): string | undefined {
  const parsed = idempotencyHeader.safeParse({ 'idempotency-key': c.req.header('idempotency-key') });
  if (parsed.success) return parsed.data['idempotency-key'];
  const issues = issuesOf(parsed.error);
  throw new ProblemError('invalid_header', inWords(issues, 'the header'), { issues });
}
