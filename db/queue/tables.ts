// Tables beside the jobs: what runners must have, each combination once, and which jobs wait for which.
import { doublePrecision, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Accelerator } from '../../api/contract/names.ts';
import { json } from '../json.ts';
import { jobs, languagesColumn } from '../schema.ts';

/** `id` is a hash of the rest. Rows are added by a trigger of jobs and never change. */
export const requirements = pgTable('requirements', {
  id: text('id').primaryKey(),
  accelerator: text('accelerator').$type<Accelerator>().notNull(),
  minMemoryGb: doublePrecision('min_memory_gb').notNull(),
  runnerLabels: json<Record<string, string>>('runner_labels').notNull(),
  languages: languagesColumn(),
});

const aJob = (name: string) =>
  text(name)
    .notNull()
    .references(() => jobs.id, { onDelete: 'cascade' });

export const jobNeeds = pgTable(
  'job_needs',
  { jobId: aJob('job_id'), needsId: aJob('needs_id') },
  (table) => [
    primaryKey({ columns: [table.jobId, table.needsId] }),
    index('job_needs_needed').on(table.needsId),
  ],
);
