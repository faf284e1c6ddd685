// Whether the database has the schema that this code was written for. The list of migrations comes with the code, so that
// it is known where no file can be read, too.
import { sql } from 'drizzle-orm';
import type { Database } from './connect.ts';
import journal from './migrations/meta/_journal.json' with { type: 'json' };

/** `behind`: migrations are missing; `newer`: a later version has migrated it, which this one goes on to work with. */
export type SchemaState = 'ok' | 'behind' | 'newer';

/** By the time of its making, Drizzle knows a migration. */
const expected = Math.max(...journal.entries.map(({ when }) => when));

/** Undefined table, undefined schema: nothing was ever migrated. */
const missing = /^(42P01|3F000)$/;

/** Throws the database's own error. */
export async function schemaState(db: Database): Promise<SchemaState> {
  const newest = await newestMigration(db);
  if (newest === expected) return 'ok';
  return newest < expected ? 'behind' : 'newer';
}

async function newestMigration(db: Database): Promise<number> {
  try {
    const [row] = await db.execute<{ newest: string | null }>(
      sql`select max(created_at)::text as newest from drizzle.__drizzle_migrations`,
    );
    return Number(row?.newest ?? 0);
  } catch (error) {
    const code = String((error as { cause?: { code?: unknown } }).cause?.code);
    if (missing.test(code)) return 0;
    throw error;
  }
}
