// Brings a database to the present schema. Safe to call from every process that starts: callers
// take turns by an advisory lock, because Drizzle's migrator fails when two run at once.
import { resolve } from 'node:path';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { soundTransactions } from './transactions.ts';

const migrationsFolder = resolve(import.meta.dirname, 'migrations');

// Any constant: it only must be the same in every version.
const lockKey = 7_104_221_001;

/** Applies what is missing. Throws the database's own error, in which case nothing of that migration stays. */
export async function migrate(url: string): Promise<void> {
  // One connection: the lock belongs to a session, and ends with it even if this process is killed.
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    await sql`select pg_advisory_lock(${lockKey})`;
    await applyMigrations(drizzle(soundTransactions(sql)), { migrationsFolder });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
