// Runners that serve: alive while they are heard of, found by checkpoint and by name, for their own project only.
import { expect, test } from 'vitest';
import {
  endServing,
  findServing,
  forgetGone,
  listServing,
  registerServing,
  touchServing,
  wasServed,
} from '../../db/serving.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertProject } from './support.ts';

const pg = useDatabase();
const leaseMs = 30_000;
const registration = {
  protocol: 1,
  name: 'one',
  checkpoint: null,
  model: 'a-model',
  url: 'http://127.0.0.1:1',
  secret: 'x'.repeat(20),
  version: 'test',
};

const age = (id: string, seconds: number) =>
  pg.sql`update serving_runners set last_seen_at = now() - ${seconds} * interval '1 second' where id = ${id}`;

test('one that is heard of no more is not found, and is found again after a heartbeat', async () => {
  const project = await insertProject(pg.db);
  const id = await registerServing(pg.db, project, registration);
  const found = async () => (await findServing(pg.db, project, 'a-model', leaseMs)).map((row) => row.id);
  expect(await found()).toEqual([id]);
  await age(id, 31);
  expect(await found()).toEqual([]);
  expect(await listServing(pg.db, project, leaseMs)).toEqual([]);
  expect(await wasServed(pg.db, project, 'a-model')).toBe(true);
  expect(await touchServing(pg.db, project, id)).toBe(true);
  expect(await found()).toEqual([id]);
});

test('one is found by its checkpoint and by its name, by its own project only', async () => {
  const [project, other] = [await insertProject(pg.db), await insertProject(pg.db)];
  const checkpoint = `ckpt_${'0'.repeat(26)}`;
  const id = await registerServing(pg.db, project, { ...registration, checkpoint, model: 'alias' });
  for (const model of [checkpoint, 'alias']) {
    expect((await findServing(pg.db, project, model, leaseMs)).map((row) => row.id)).toEqual([id]);
    expect(await findServing(pg.db, other, model, leaseMs)).toEqual([]);
    expect(await wasServed(pg.db, other, model)).toBe(false);
  }
  expect(await touchServing(pg.db, other, id)).toBe(false);
  await endServing(pg.db, other, id);
  expect(await listServing(pg.db, project, leaseMs)).toHaveLength(1);
});

test('one that said goodbye is gone, one that is gone for a day is forgotten', async () => {
  const project = await insertProject(pg.db);
  const ids = [
    await registerServing(pg.db, project, registration),
    await registerServing(pg.db, project, registration),
  ];
  await endServing(pg.db, project, ids[0]!);
  expect(await touchServing(pg.db, project, ids[0]!)).toBe(false);
  await age(ids[1]!, 86_401);
  const alive = await registerServing(pg.db, project, registration);
  await forgetGone(pg.db);
  expect(await touchServing(pg.db, project, ids[1]!)).toBe(false);
  expect(await touchServing(pg.db, project, alive)).toBe(true);
});
