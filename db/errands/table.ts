// The table of errands: small work for a runner's grader, each row its own queue entry.
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import type { ErrandKind, ErrandPayload, ErrandReason, ErrandState } from '../../api/contract/errand.ts';
import type { GradeResult } from '../../api/contract/grade.ts';
import { foreignText, json } from '../json.ts';
import { createdAt, datasets, languagesColumn, ownedBy, runners, time } from '../schema.ts';

/** `attempt` counts claims, `lost_leases` those that ended in silence. Finished rows are deleted an hour later. */
export const errands = pgTable(
  'errands',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    kind: text('kind').$type<ErrandKind>().notNull(),
    state: text('state').$type<ErrandState>().notNull().default('queued'),
    payload: json<ErrandPayload>('payload').notNull(),
    languages: languagesColumn(),
    datasetId: text('dataset_id').references(() => datasets.id, { onDelete: 'cascade' }),
    results: json<GradeResult[]>('results'),
    reason: text('reason').$type<ErrandReason>(),
    message: foreignText('message'),
    attempt: integer('attempt').notNull().default(0),
    lostLeases: integer('lost_leases').notNull().default(0),
    runnerId: text('runner_id').references(() => runners.id),
    leaseExpiresAt: time('lease_expires_at'),
    availableAt: time('available_at').notNull().defaultNow(),
    createdAt: createdAt(),
    finishedAt: time('finished_at'),
  },
  (table) => [
    index('errands_claim')
      .on(table.projectId, table.kind, table.id)
      .where(sql`state = 'queued'`),
    index('errands_held')
      .on(table.id)
      .where(sql`state = 'running'`),
    index('errands_finished').on(table.finishedAt),
    index('errands_dataset').on(table.datasetId),
  ],
);

export type ErrandRow = typeof errands.$inferSelect;
