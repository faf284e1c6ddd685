// One pool of connections and the typed query builder over it. Timestamps come back as Date through
// the builder and as text through raw SQL (Drizzle turns the driver's own parsers off).
import type { ExtractTablesWithRelations } from 'drizzle-orm';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import * as schema from './schema.ts';
import { soundTransactions } from './transactions.ts';

/** The database or a transaction in it: statements take either. */
export type Database = PgDatabase<
  PostgresJsQueryResultHKT,
  typeof schema,
  ExtractTablesWithRelations<typeof schema>
>;

export interface Connected {
  db: Database;
  sql: postgres.Sql;
  /** Lets running queries end (5 s at most), then closes every connection. */
  close: () => Promise<void>;
}

/** What Postgres is told of each session; `sessionOf` is what a process of the API tells it. */
export type Session = Readonly<Record<string, string | number>>;

/**
 * A process that stands still or loses its network in the middle of a transaction holds the row of a job, and with it every heartbeat
 * and the end of its lease, until Postgres ends that session. It must do so while the runner still has its lease.
 */
export const sessionOf = (leaseMs: number): Session => ({
  idle_in_transaction_session_timeout: Math.ceil(leaseMs / 2),
});

/** Opens nothing by itself: connections are made when the first query runs. `max` bounds their number. */
export function connect(url: string, max = 10, session: Session = {}): Connected {
  // No type look-up on connecting: it costs a round trip, and a Worker makes a client for each request.
  const sql = soundTransactions(
    postgres(url, {
      max,
      fetch_types: false,
      connect_timeout: 10,
      connection: session,
      onnotice: () => undefined,
    }),
  );
  return { db: drizzle(sql, { schema }), sql, close: () => sql.end({ timeout: 5 }) };
}
