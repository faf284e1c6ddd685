// A new secret for a key: a successor with its name, its scopes and its end; the key itself stays valid for a grace, so that
// whoever uses it can change over.
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { createKey, type CreatedKey } from '../keys.ts';
import { apiKeys } from './table.ts';
import { isValid } from './valid.ts';

/** undefined if the project has no such key that is valid and has no successor yet. */
export async function rotateKey(
  db: Database,
  projectId: string,
  id: string,
  graceMs: number,
): Promise<CreatedKey | undefined> {
  return await db.transaction(async (tx) => {
    const rotatable = and(
      eq(apiKeys.projectId, projectId),
      eq(apiKeys.id, id),
      isNull(apiKeys.replacedBy),
      isValid(),
    );
    const [old] = await tx.select().from(apiKeys).where(rotatable).for('update');
    if (old === undefined) return undefined;
    const { name, scopes, expiresAt } = old;
    const successor = await createKey(tx, { projectId, name, scopes, expiresAt });
    const graceEnds = sql`now() + ${graceMs} * interval '1 millisecond'`;
    await tx
      .update(apiKeys)
      // least() passes over null: a key without an end gets one.
      .set({ replacedBy: successor.id, expiresAt: sql`least(${apiKeys.expiresAt}, ${graceEnds})` })
      .where(eq(apiKeys.id, id));
    return successor;
  });
}
