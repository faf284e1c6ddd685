// Uploaded files, as the clients of OpenAI's API know them: the bytes lie in the store, as they were sent.
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core';
import { foreignText } from '../json.ts';
import { createdAt, ownedBy } from '../schema.ts';

export const files = pgTable(
  'files',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    filename: foreignText('filename').notNull(),
    purpose: text('purpose').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
    key: text('key').notNull(),
    createdAt: createdAt(),
  },
  (table) => [index('files_list').on(table.projectId, table.id)],
);

export type FileRow = typeof files.$inferSelect;
