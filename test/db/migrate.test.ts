// Migrations: six callers at once on an empty database, again on a full one, and a schema that is up to date.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { connect } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { createDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, upTo } from './support.ts';

const root = resolve(import.meta.dirname, '../..');

test('six callers at once succeed, and a seventh later', async () => {
  const { url, drop } = await createDatabase();
  const { db, sql, close } = connect(url);
  await sql`drop schema public cascade`;
  await sql`drop schema drizzle cascade`;
  await sql`create schema public`;
  await Promise.all(upTo(6).map(() => migrate(url)));
  const id = await insertJob(db, { projectId: await insertProject(db) });
  await migrate(url);
  const [applied] = await sql`select count(*)::int as n from drizzle.__drizzle_migrations`;
  const files = (await readdir(join(root, 'db/migrations'))).filter((name) => name.endsWith('.sql'));
  expect(applied?.['n']).toBe(files.length);
  expect((await sql`select id from jobs`).map((row) => row['id'] as string)).toEqual([id]);
  await close();
  await drop();
});

test('the migrations hold all that schema.ts says', async () => {
  const out = await mkdtemp(join(tmpdir(), 'millrace-migrations-'));
  try {
    // Generating into a copy: a forgotten `npm run db:generate` would write a file here.
    const config = join(out, 'drizzle.config.json');
    await cp(join(root, 'db/migrations'), join(out, 'migrations'), { recursive: true });
    const before = await readdir(join(out, 'migrations'));
    await writeFile(
      config,
      JSON.stringify({
        dialect: 'postgresql',
        schema: [
          'db/schema.ts',
          ...['errands', 'serving', 'webhooks', 'retention'].map((part) => `db/${part}/table.ts`),
        ].map((file) => join(root, file)),
        out: join(out, 'migrations'),
      }),
    );
    const kit = join(root, 'node_modules/drizzle-kit/bin.cjs');
    await promisify(execFile)(process.execPath, [kit, 'generate', `--config=${config}`], { cwd: root });
    expect(await readdir(join(out, 'migrations'))).toEqual(before);
  } finally {
    await rm(out, { recursive: true });
  }
});
