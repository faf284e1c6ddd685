// What clock work remembers: objects whose row is gone, and how far its passes over jobs and over the store have come.
import { integer, index, pgTable, text, bigint } from 'drizzle-orm/pg-core';
import { createdAt, time } from '../schema.ts';

/**
 * Objects to be removed: all below `prefix` where it ends in a slash, else the one of this key. Inserted in the transaction that
 * deletes the row which named them, so that a crash in between leaves nothing but what is written here.
 */
export const doomedObjects = pgTable(
  'doomed_objects',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    prefix: text('prefix').notNull(),
    notBefore: time('not_before').notNull().defaultNow(),
    tries: integer('tries').notNull().default(0),
    createdAt: createdAt(),
  },
  (table) => [index('doomed_objects_due').on(table.notBefore)],
);

/** `position`: the last thing that a pass has looked at; null: it begins anew, not before `due_at`. */
export const passes = pgTable('passes', {
  name: text('name').primaryKey(),
  position: text('position'),
  dueAt: time('due_at').notNull().defaultNow(),
});
