// Back-up and restore on a real Postgres: dumped by pg_dump while a job runs, the world goes on, the dump comes back, and the
// job finishes right. Without the system's pg_dump (the embedded server has none) a copy of the database by Postgres itself
// (`create database … template`) stands for the dump.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkRestored } from '../../api/restore.ts';
import { connect } from '../../db/connect.ts';
import type { Connected } from '../../db/connect.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { attemptsSkipped } from '../../db/restore.ts';
import { filesystemStore } from '../../store/filesystem.ts';
import type { ObjectStore } from '../../store/store.ts';
import { createDatabase } from '../support/postgres.ts';
import {
  backdate,
  bodiesOf,
  checkpointAt,
  claimAgain,
  jobRow,
  leaseMs,
  runningJob,
  seqsOf,
  upTo,
} from './support.ts';

/** Debian keeps each version's programs out of PATH. */
const programs = '/usr/lib/postgresql';
const newest = existsSync(programs)
  ? readdirSync(programs).sort((a, b) => Number(b) - Number(a))[0]
  : undefined;
const program = (name: string): string => (newest === undefined ? name : join(programs, newest, 'bin', name));

const major = (program: string): number =>
  Number(/(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 0);

let database: Awaited<ReturnType<typeof createDatabase>>;
let live: Connected;
let folder: string;
let store: ObjectStore;
beforeAll(async () => {
  database = await createDatabase();
  live = connect(database.url);
  folder = await mkdtemp(join(tmpdir(), 'millrace-test-restore-'));
  store = filesystemStore(folder);
});
afterAll(async () => {
  await live.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Keeps the database as it is now; what it returns brings that back in its place. */
async function backUp(): Promise<{ how: string; restore: () => Promise<void> }> {
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  const admin = new URL(database.url);
  admin.pathname = '/postgres';
  const withAdmin = async (work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> => {
    const sql = postgres(admin.href, { max: 1, onnotice: () => undefined });
    await work(sql).finally(() => sql.end());
  };
  const [server] = await live.sql`show server_version_num`;
  const dumps = major(program('pg_dump')) >= Math.floor(Number(server?.['server_version_num']) / 10_000);
  const kept = `${name}_kept`;
  if (dumps) {
    const file = join(folder, 'dump');
    execFileSync(program('pg_dump'), ['--format=custom', `--file=${file}`, database.url]);
    const restore = async (): Promise<void> => {
      await live.close();
      await withAdmin(async (sql) => {
        await sql.unsafe(`drop database ${name} with (force)`);
        await sql.unsafe(`create database ${name}`);
      });
      execFileSync(program('pg_restore'), [
        '--no-owner',
        '--exit-on-error',
        `--dbname=${database.url}`,
        file,
      ]);
      live = connect(database.url);
    };
    return { how: 'pg_dump', restore };
  }
  await live.close();
  await withAdmin((sql) => sql.unsafe(`create database ${kept} template ${name}`));
  live = connect(database.url);
  const restore = async (): Promise<void> => {
    await live.close();
    await withAdmin(async (sql) => {
      await sql.unsafe(`drop database ${name} with (force)`);
      await sql.unsafe(`alter database ${kept} rename to ${name}`);
    });
    live = connect(database.url);
  };
  return { how: 'a copy made by Postgres: pg_dump is not there, or older than the server', restore };
}

test('a job that ran when the back-up was made finishes right after it came back', async () => {
  const { fence } = await runningJob(live.db);
  const manifest = (prefix: string) => store.put(`${prefix}manifest.json`, Buffer.from('{}'));
  const first = checkpointAt(fence, 1);
  await manifest(first.prefix);
  await commitCheckpoint(live.db, fence, first);
  const dataset = (await jobRow(live.db, fence.job)).datasetIds[0]!;
  await store.put('datasets/one.jsonl', Buffer.from('{}'));

  const { how, restore } = await backUp();
  console.log(`backed up by ${how}`);

  // The world goes on: a checkpoint, a lost lease, another attempt with objects of its own, which nobody will know of.
  await commitCheckpoint(live.db, fence, checkpointAt(fence, 2));
  await finishAttempt(live.db, {
    ...fence,
    outcome: { type: 'failed', reason: 'trainer_crashed', message: '' },
    log: '',
  });
  await backdate(live.db, fence.job);
  const second = await claimAgain(live.db, fence);
  expect(second.fence.attempt).toBe(2);

  await restore();
  expect(await jobRow(live.db, fence.job)).toMatchObject({ state: 'running', attempt: 1 });
  expect(await checkRestored(live.db, store)).toEqual({
    released: [fence.job],
    jobs: 1,
    errands: 0,
    missing_datasets: [],
    missing_checkpoints: [],
    rewound: [],
  });
  // Neither the runner of the back-up's moment nor the later one is heard any more.
  for (const former of [fence, second.fence])
    expect(await heartbeat(live.db, { ...former, leaseMs })).toBe('lease_lost');
  const row = await jobRow(live.db, fence.job);
  expect(row).toMatchObject({ state: 'queued', reason: null, failuresWithoutCheckpoint: 0 });

  const { fence: third, claimed } = await claimAgain(live.db, fence);
  expect(third.attempt).toBe(1 + attemptsSkipped + 1);
  expect(claimed.resume?.prefix).toBe(first.prefix);
  await finishAttempt(live.db, { ...third, outcome: { type: 'succeeded' }, log: '' });
  expect(await jobRow(live.db, fence.job)).toMatchObject({ state: 'succeeded', datasetIds: [dataset] });
  const seqs = await seqsOf(live.db, fence.job);
  expect(seqs).toEqual(upTo(seqs.length));
  expect((await bodiesOf(live.db, fence.job)).some(({ type }) => type === 'attempt_failed')).toBe(false);
});

test('a checkpoint whose objects are gone is named, and the job goes on from the one before', async () => {
  const { fence } = await runningJob(live.db);
  const [kept, gone] = [checkpointAt(fence, 1), checkpointAt(fence, 2)];
  await store.put(`${kept.prefix}manifest.json`, Buffer.from('{}'));
  await commitCheckpoint(live.db, fence, kept);
  await commitCheckpoint(live.db, fence, gone);
  const lost = (await jobRow(live.db, fence.job)).lastCheckpointId!;
  const { missing_checkpoints, rewound } = await checkRestored(live.db, store);
  expect(missing_checkpoints).toEqual([lost]);
  expect(rewound).toEqual([{ job: fence.job, to: expect.not.stringContaining(lost) as string }]);
  expect((await claimAgain(live.db, fence)).claimed.resume?.prefix).toBe(kept.prefix);
});
