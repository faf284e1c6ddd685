// The table of runners that serve a checkpoint or another model now.
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { ownedBy, time } from '../schema.ts';

/**
 * Runners that serve a model now. The secret is kept as it is: the API sends it with every request to `url`. Rows of runners
 * that are gone are deleted a day later.
 */
export const servingRunners = pgTable(
  'serving_runners',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    name: text('name').notNull(),
    checkpointId: text('checkpoint_id'),
    model: text('model'),
    url: text('url').notNull(),
    secret: text('secret').notNull(),
    version: text('version').notNull(),
    registeredAt: time('registered_at').notNull().defaultNow(),
    lastSeenAt: time('last_seen_at').notNull().defaultNow(),
  },
  (table) => [index('serving_runners_list').on(table.projectId, table.id)],
);

export type ServingRunnerRow = typeof servingRunners.$inferSelect;
