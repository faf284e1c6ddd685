// Migrations must be applicable while the version before them still serves: a rule on their text, and the present code on a
// database that a later version has migrated.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaState } from '../../db/schema-state.ts';
import { useDatabase } from '../support/postgres.ts';
import { claimAgain, insertJob, insertProject, insertRunner } from './support.ts';

const folder = resolve(import.meta.dirname, '../../db/migrations');
const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));

/** Before this one nothing was released that could be serving. */
const firstRuled = 5;

/** What the version before would stumble over. A statement that may stand all the same says why: `-- safe: …` in its text. */
const forbidden: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|column|schema|type)\b/i, 'drops what the old version reads'],
  [/\brename\b/i, 'renames what the old version reads'],
  [
    /\balter\s+column\b.*\b(set\s+data\s+type|type)\b/is,
    'changes a type: the table is rewritten under a lock',
  ],
  [/\balter\s+column\b.*\bset\s+not\s+null\b/is, 'the old version may still write null'],
  [
    /\badd\s+column\b(?!.*\bdefault\b).*\bnot\s+null\b/is,
    'the old version writes no such column: give it a default',
  ],
  [/\badd\s+constraint\b.*\bcheck\b(?!.*\bnot\s+valid\b)/is, 'is checked under a lock: not valid first'],
];

function faultsOf(sql: string): string[] {
  const made = new Set([...sql.matchAll(/create\s+table\s+"?(\w+)"?/gi)].map((match) => match[1]));
  return sql.split('--> statement-breakpoint').flatMap((statement) => {
    if (/--\s*safe:\s*\S/.test(statement)) return [];
    const found = forbidden.filter(([rule]) => rule.test(statement)).map(([, why]) => why);
    const [, table] = /\bcreate\s+(?:unique\s+)?index\b[^;]*?\bon\s+"?(\w+)"?/is.exec(statement) ?? [];
    if (table !== undefined && !made.has(table))
      found.push(
        `an index on ${table} is built while nobody may write: say with "-- safe:" why that is short`,
      );
    return found.map((why) => `${statement.trim().slice(0, 80)}: ${why}`);
  });
}

describe('the rule', () => {
  test.each([
    ['ALTER TABLE "jobs" DROP COLUMN "x"', 1],
    ['ALTER TABLE "jobs" RENAME COLUMN "x" TO "y"', 1],
    ['ALTER TABLE "jobs" ADD COLUMN "x" integer NOT NULL', 1],
    ['ALTER TABLE "jobs" ADD COLUMN "x" integer DEFAULT 0 NOT NULL', 0],
    ['ALTER TABLE "jobs" ADD COLUMN "x" integer', 0],
    ['ALTER TABLE "jobs" ALTER COLUMN "x" SET DATA TYPE bigint', 1],
    ['CREATE INDEX "i" ON "jobs" USING btree ("x")', 1],
    ['-- safe: few rows\nCREATE INDEX "i" ON "api_keys" USING btree ("x")', 0],
    ['CREATE TABLE "n" ("a" text NOT NULL);--> statement-breakpoint\nCREATE INDEX "i" ON "n" ("a")', 0],
  ])('%s', (sql, faults) => {
    expect(faultsOf(sql)).toHaveLength(faults);
  });
});

test('every migration after the first release keeps it', () => {
  const ruled = files.filter((name) => Number(name.slice(0, 4)) >= firstRuled);
  expect(files.length).toBeGreaterThanOrEqual(firstRuled);
  for (const name of ruled)
    expect([name, faultsOf(readFileSync(resolve(folder, name), 'utf8'))]).toEqual([name, []]);
});

describe('the present code on a database that a later version has migrated', () => {
  const pg = useDatabase();
  test('posts, claims and goes on, and knows that the schema is newer', async () => {
    expect(await schemaState(pg.db)).toBe('ok');
    // What a later version may do by the rule: columns that are nullable or have a default, in every table.
    const tables = await pg.sql`select tablename from pg_tables where schemaname = 'public'`;
    for (const { tablename } of tables) {
      await pg.sql.unsafe(
        `alter table "${tablename as string}" add column later_default integer not null default 7`,
      );
      await pg.sql.unsafe(`alter table "${tablename as string}" add column later_null text`);
    }
    await pg.sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`;
    expect(await schemaState(pg.db)).toBe('newer');
    const projectId = await insertProject(pg.db);
    const runner = await insertRunner(pg.db, projectId);
    const id = await insertJob(pg.db, { projectId });
    expect((await claimAgain(pg.db, { projectId, runner })).claimed.job.id).toBe(id);
  });

  test('a migration that is missing, or all of them, is behind', async () => {
    await pg.sql`delete from drizzle.__drizzle_migrations where created_at >= (select max(created_at) from drizzle.__drizzle_migrations where created_at < 9999999999999)`;
    expect(await schemaState(pg.db)).toBe('behind');
    await pg.sql`drop schema drizzle cascade`;
    expect(await schemaState(pg.db)).toBe('behind');
  });
});
