// What a job that was posted in OpenAI's form was asked for, beside the job itself, which is one like any other.
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import type { FineTuningMethod } from '../../api/contract/fine-tuning.ts';
import { json } from '../json.ts';
import { jobs, ownedBy } from '../schema.ts';

/** Files are named, not referenced: they may be deleted. `method` has its numbers filled in. */
export const fineTuningJobs = pgTable(
  'fine_tuning_jobs',
  {
    jobId: text('job_id')
      .primaryKey()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    projectId: ownedBy(),
    model: text('model').notNull(),
    trainingFile: text('training_file').notNull(),
    validationFile: text('validation_file'),
    suffix: text('suffix'),
    method: json<FineTuningMethod>('method').notNull(),
    metadata: json<Record<string, string>>('metadata'),
  },
  (table) => [index('fine_tuning_jobs_list').on(table.projectId, table.jobId)],
);

export type FineTuningRow = typeof fineTuningJobs.$inferSelect;
