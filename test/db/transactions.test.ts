// A session that ends in the middle of a transaction, as at a restart of Postgres: nothing of the transaction happens afterwards, in
// that session or another, the process lives, and its connections work.
import { expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import type { Connected, Database } from '../../db/connect.ts';
import { connect } from '../../db/connect.ts';
import { useDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const pg = useDatabase();

const sessionOfDatabase = async (db: Database): Promise<number> =>
  Number((await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`))[0]!.pid);

/** Resolves when the session is gone. */
async function endSession(pid: number): Promise<void> {
  await pg.sql`select pg_terminate_backend(${pid})`;
  await until(async () => (await pg.sql`select 1 from pg_stat_activity where pid = ${pid}`).length === 0);
}

/** One connection, so that what else is asked of it opens just the one that was lost. */
async function withOne(work: (one: Connected) => Promise<void>): Promise<void> {
  const one = connect(pg.url, 1);
  await work(one).finally(() => one.close());
}

const lost = { code: expect.stringMatching(/^(CONNECTION_|57P01|ECONNRESET|EPIPE)/) as string };

test('between two statements: the second is refused, also where the connection is open again', () =>
  withOne(async ({ db }) => {
    await pg.sql`create table said (by text)`;
    let goesOn: unknown;
    const others: Promise<unknown>[] = [];
    const transaction = db.transaction(async (tx) => {
      await endSession(await sessionOfDatabase(tx));
      await until(async () => {
        const other = sessionOfDatabase(db).catch(() => undefined);
        others.push(other);
        return (await other) !== undefined;
      });
      goesOn = await tx
        .execute(sql`insert into said values ('a transaction that is gone')`)
        .catch((e: unknown) => e);
    });
    await expect(transaction).rejects.toMatchObject(lost);
    await until(() => goesOn !== undefined);
    expect(goesOn).toBeInstanceOf(Error);
    await Promise.all(others);
    expect(await pg.sql`select by from said`).toEqual([]);
  }));

test('within a statement: the transaction is rejected, and the pool goes on', () =>
  withOne(async ({ db }) => {
    const transaction = db.transaction(async (tx) => {
      const pid = await sessionOfDatabase(tx);
      const asleep = tx.execute(sql`select pg_sleep(60)`);
      await Promise.all([asleep, endSession(pid)]);
    });
    await expect(transaction).rejects.toMatchObject(lost);
    // The driver may give the next statement the error of the last one, once.
    await sessionOfDatabase(db).catch((error: unknown) => expect(error).toMatchObject({ cause: lost }));
    expect(await sessionOfDatabase(db)).toBeGreaterThan(0);
  }));

test('before its end: it is not committed in the words of another session', () =>
  withOne(async ({ db }) => {
    const transaction = db.transaction(async (tx) => await endSession(await sessionOfDatabase(tx)));
    await expect(transaction).rejects.toMatchObject(lost);
    expect(await sessionOfDatabase(db)).toBeGreaterThan(0);
  }));

test('an error of a statement rolls back as ever', () =>
  withOne(async ({ db }) => {
    await pg.sql`create table kept (n int primary key)`;
    const transaction = db.transaction(async (tx) => {
      await tx.execute(sql`insert into kept values (1)`);
      await tx.execute(sql`insert into kept values (1)`);
    });
    await expect(transaction).rejects.toMatchObject({ cause: { code: '23505' } });
    expect(await pg.sql`select n from kept`).toEqual([]);
    await db.transaction(async (tx) => await tx.execute(sql`insert into kept values (2)`));
    expect(await pg.sql`select n from kept`).toEqual([{ n: 2 }]);
  }));
