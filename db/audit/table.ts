// The table of the audit trail: one row for each call of a client that changes something. It names keys and things by id
// and copies the names, so that a row still says who it was when the thing is gone.
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt, ownedBy } from '../schema.ts';

/**
 * `status` is null from before the work until its answer is known: a row that stays so says that the process ended in between.
 * `made` is what a call on another thing created: the successor of a key, the retry of a job.
 */
export const auditRows = pgTable(
  'audit_rows',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    keyId: text('key_id').notNull(),
    keyName: text('key_name').notNull(),
    method: text('method').notNull(),
    route: text('route').notNull(),
    thing: text('thing'),
    made: text('made'),
    status: integer('status'),
    requestId: text('request_id').notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index('audit_rows_list').on(table.projectId, table.id),
    index('audit_rows_key').on(table.keyId, table.id),
    index('audit_rows_thing').on(table.thing),
    index('audit_rows_made').on(table.made),
  ],
);

export type AuditRow = typeof auditRows.$inferSelect;
