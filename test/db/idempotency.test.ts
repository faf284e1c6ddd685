// Idempotency keys under race: the work is done once, every resend gets the first answer.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { once, type Answer } from '../../db/idempotency.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, upTo } from './support.ts';

const pg = useDatabase();

test('ten callers at once: one does the work, nine get its answer', async () => {
  const projectId = await insertProject(pg.db);
  const request = { projectId, key: randomUUID(), hash: 'h1' };
  const answers = await Promise.all(
    upTo(10).map(() =>
      once(pg.db, request, async (tx) => ({ status: 201, body: { id: await insertJob(tx, { projectId }) } })),
    ),
  );
  const kinds = answers.map((answer) => answer.kind).toSorted();
  expect(kinds).toEqual(['first', ...upTo(9).map(() => 'replayed')]);
  const [jobs] = await pg.sql`select count(*)::int as n from jobs where project_id = ${projectId}`;
  expect(jobs?.['n']).toBe(1);
  const bodies = new Set(
    answers.map((answer) => JSON.stringify(answer.kind === 'conflict' ? answer : answer.answer)),
  );
  expect(bodies.size).toBe(1);
});

test('another request under the same key is a conflict, and does nothing', async () => {
  const projectId = await insertProject(pg.db);
  const request = { projectId, key: 'k', hash: 'h1' };
  const answer: Answer = { status: 201, body: { n: 1 } };
  expect(await once(pg.db, request, () => Promise.resolve(answer))).toEqual({ kind: 'first', answer });
  const never = () => Promise.reject(new Error('this must not run'));
  expect(await once(pg.db, { ...request, hash: 'h2' }, never)).toEqual({ kind: 'conflict' });
  expect(await once(pg.db, request, never)).toEqual({ kind: 'replayed', answer });
});

test('keys of two projects do not meet', async () => {
  for (const projectId of [await insertProject(pg.db), await insertProject(pg.db)]) {
    const done = await once(pg.db, { projectId, key: 'same', hash: 'h' }, () =>
      Promise.resolve({ status: 200, body: null }),
    );
    expect(done.kind).toBe('first');
  }
});

test('work that throws frees the key: the caller that waited takes its place', async () => {
  const projectId = await insertProject(pg.db);
  const request = { projectId, key: 'k', hash: 'h' };
  const failure = new Error('the store is down');
  const started = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const first = once(pg.db, request, async () => {
    started.resolve(undefined);
    await release.promise;
    throw failure;
  });
  await started.promise;
  const second = once(pg.db, request, () => Promise.resolve({ status: 201, body: 'second' }));
  release.resolve(undefined);
  await expect(first).rejects.toBe(failure);
  expect(await second).toEqual({ kind: 'first', answer: { status: 201, body: 'second' } });
});
