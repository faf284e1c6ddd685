// Pins, deleting checkpoints and jobs: what is needed stays, and who needs it is named; what goes leaves no object.
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Problem } from '../../api/contract/problem.ts';
import { removeDoomed } from '../../api/retention/doomed.ts';
import { doomedObjects } from '../../db/retention/table.ts';
import { checkpoints, jobs } from '../../db/schema.ts';
import { servingRunners } from '../../db/serving/table.ts';
import { spec, useApi } from './support.ts';
import { clockOf, commitAt, keysIn, runningJob, succeed } from './retention-support.ts';

const api = useApi();
const { database } = api;
beforeEach(async () => {
  await database.sql`update jobs set state = 'cancelled' where state in ('queued', 'paused')`;
});

const remove = async (path: string, key = api.keys.submit) => {
  const response = await api.request('DELETE', path, { key });
  return response.status === 204 ? 204 : ((await response.json()) as Problem);
};
const conflict = (detail: RegExp) => ({ code: 'conflict', detail: expect.stringMatching(detail) as string });

/** An ended job with checkpoints of two steps and of its end. */
async function endedJob() {
  const client = api.client();
  const job = await runningJob(client);
  const first = await commitAt(api, client, job, 1);
  const second = await commitAt(api, client, job, 2);
  const last = await commitAt(api, client, job, 3, { kind: 'final' });
  await succeed(client, job);
  return { ...job, first, second, last };
}

const beginning = (checkpoint: string) =>
  spec({ model: { init: { from: 'checkpoint', checkpoint } }, stages: [{ kind: 'sft', data: 'sft', steps: 1 }], evaluate: undefined }); // prettier-ignore

describe('a checkpoint', () => {
  test('goes, row first, then its objects, and nothing else', async () => {
    const { id, first, second } = await endedJob();
    expect(await remove(`/v1/checkpoints/${first}`)).toBe(204);
    expect(await remove(`/v1/checkpoints/${first}`)).toMatchObject({ code: 'not_found' });
    expect((await api.client().checkpoints(id)).data).toHaveLength(2);
    expect(await keysIn(api.store, `jobs/${id}/a1/0-sft/step-000001/`)).toHaveLength(2);
    await removeDoomed(clockOf(api));
    expect(await keysIn(api.store, `jobs/${id}/a1/0-sft/`)).toEqual([
      'step-000002/manifest.json',
      'step-000002/model.safetensors',
      'step-000003/manifest.json',
      'step-000003/model.safetensors',
    ]);
    expect(await database.db.select().from(doomedObjects)).toEqual([]);
    expect((await api.client().checkpoint(second)).step).toBe(2);
  });

  test('the last one of an ended job gives its place to the newest of the others', async () => {
    const { id, first, second, last } = await endedJob();
    for (const [gone, then] of [
      [last, second],
      [second, first],
      [first, null],
    ] as const) {
      // prettier-ignore
      expect(await remove(`/v1/checkpoints/${gone}`)).toBe(204);
      expect((await api.client().job(id)).last_checkpoint).toBe(then);
    }
  });

  test('pinned it stays, until it is unpinned', async () => {
    const { first } = await endedJob();
    const client = api.client(api.keys.submit);
    expect((await client.pinCheckpoint(first)).pinned).toBe(true);
    expect((await client.pinCheckpoint(first)).pinned).toBe(true);
    expect(await remove(`/v1/checkpoints/${first}`)).toMatchObject(
      conflict(/kept by the pin of checkpoint ckpt_/),
    );
    expect((await client.unpinCheckpoint(first)).pinned).toBe(false);
    await client.deleteCheckpoint(first);
  });

  test('that a live job begins with stays, and the job is named; when it has ended the checkpoint may go', async () => {
    const client = api.client();
    const { last } = await endedJob();
    const { id } = await client.createJob(beginning(last));
    expect(await remove(`/v1/checkpoints/${last}`)).toMatchObject(
      conflict(new RegExp(`job ${id}, which has not ended and names it`)),
    );
    await client.cancelJob(id);
    expect(await remove(`/v1/checkpoints/${last}`)).toBe(204);
  });

  test.each([
    ['scored with', (model: string) => ({ stages: [{ kind: 'rlhf', data: 'math', steps: 1, max_response: 8, grader: { type: 'preference', model } }], evaluate: undefined })], // prettier-ignore
    ['learnt from', (teacher: string) => ({ stages: [{ kind: 'distill', steps: 1, max_response: 8, domains: [{ domain: 'math', data: 'math', teacher, mode: 'non_thinking' }] }], evaluate: undefined })], // prettier-ignore
  ])('that is %s stays', async (_, changes) => {
    const { last } = await endedJob();
    const { id } = await api.client().createJob(spec(changes(last)));
    expect(await remove(`/v1/checkpoints/${last}`)).toMatchObject(conflict(new RegExp(id)));
  });

  test('of a live job: its last and its ends of stages stay, another goes', async () => {
    const client = api.client();
    const job = await runningJob(client);
    const end = await commitAt(api, client, job, 1, { kind: 'stage_end' });
    const step = await commitAt(api, client, job, 2);
    const last = await commitAt(api, client, job, 3);
    for (const needed of [end, last])
      expect(await remove(`/v1/checkpoints/${needed}`)).toMatchObject(
        conflict(/has not ended and needs it itself/),
      );
    expect(await remove(`/v1/checkpoints/${step}`)).toBe(204);
    await succeed(client, job);
    expect(await remove(`/v1/checkpoints/${end}`)).toBe(204);
  });

  test('that is being served stays as long as the runner is heard of', async () => {
    const { last } = await endedJob();
    const [row] = await database.db.select().from(checkpoints).where(eq(checkpoints.id, last));
    const serving = { id: `srv_${last}`, projectId: row!.projectId, name: 'talker', checkpointId: last, url: 'http://x', secret: 's', version: '0' }; // prettier-ignore
    await database.db.insert(servingRunners).values(serving);
    expect(await remove(`/v1/checkpoints/${last}`)).toMatchObject(conflict(/serving runner talker/));
    await database.sql`update serving_runners set last_seen_at = now() - interval '3 minutes'`;
    expect(await remove(`/v1/checkpoints/${last}`)).toBe(204);
  });

  test('of another project, or with a key that may not: not to be had', async () => {
    const { first } = await endedJob();
    for (const [method, path] of [
      ['POST', '/pin'],
      ['DELETE', '/pin'],
      ['DELETE', ''],
    ] as const) {
      // prettier-ignore
      const call = (key: string) => api.request(method, `/v1/checkpoints/${first}${path}`, { key });
      expect((await call(api.strangerKey)).status).toBe(404);
      for (const scope of ['read', 'runner'] as const) expect((await call(api.keys[scope])).status).toBe(403);
    }
  });

  test('deleted while a job that names it is being posted: one of the two wins, never both', async () => {
    const client = api.client();
    for (let round = 0; round < 8; round++) {
      const { last } = await endedJob();
      const [posted, removed] = await Promise.all([
        api.request('POST', '/v1/jobs', { json: beginning(last) }),
        remove(`/v1/checkpoints/${last}`),
      ]);
      const isThere = await client.checkpoint(last).then(() => true, () => false); // prettier-ignore
      expect([posted.status === 201, removed === 204]).toEqual([isThere, !isThere]);
      if (posted.status !== 201) expect([409, 422]).toContain(posted.status);
      else await client.cancelJob(((await posted.json()) as { id: string }).id);
    }
  });
});

describe('a job', () => {
  test('that has ended goes with all it left; other jobs keep theirs', async () => {
    const client = api.client();
    const [gone, other] = [await endedJob(), await endedJob()];
    await client.deleteJob(gone.id);
    await expect(client.job(gone.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(client.checkpoint(gone.last)).rejects.toMatchObject({ code: 'not_found' });
    for (const table of ['attempts', 'events', 'checkpoints', 'runner_reports']) {
      const [{ n }] = await database.sql.unsafe(`select count(*)::int as n from ${table} where job_id = '${gone.id}'`) as unknown as [{ n: number }]; // prettier-ignore
      expect([table, n]).toEqual([table, 0]);
    }
    await removeDoomed(clockOf(api));
    expect(await keysIn(api.store, `jobs/${gone.id}/`)).toEqual([]);
    expect(await keysIn(api.store, `jobs/${other.id}/`)).toHaveLength(6);
  });

  test('that has not ended stays', async () => {
    const client = api.client();
    const job = await runningJob(client);
    expect(await remove(`/v1/jobs/${job.id}`)).toMatchObject(conflict(/has not ended: its state is running/));
    await succeed(client, job);
    expect(await remove(`/v1/jobs/${job.id}`)).toBe(204);
  });

  test('whose checkpoint is needed or pinned stays', async () => {
    const client = api.client();
    const { id, last, first } = await endedJob();
    const { id: user } = await client.createJob(beginning(last));
    expect(await remove(`/v1/jobs/${id}`)).toMatchObject(conflict(new RegExp(user)));
    await client.cancelJob(user);
    await client.pinCheckpoint(first);
    expect(await remove(`/v1/jobs/${id}`)).toMatchObject(conflict(/pin of checkpoint/));
    await client.unpinCheckpoint(first);
    expect(await remove(`/v1/jobs/${id}`)).toBe(204);
  });

  test('of another project is not to be had', async () => {
    const { id } = await endedJob();
    expect(await remove(`/v1/jobs/${id}`, api.strangerKey)).toMatchObject({ code: 'not_found' });
    expect((await api.request('DELETE', `/v1/jobs/${id}`, { key: api.keys.read })).status).toBe(403);
  });
});

test('what a job refers to is known to the database, labels and names are not', async () => {
  const { last, second } = await endedJob();
  const { id } = await api.client().createJob({ ...beginning(last), labels: { from: second } });
  const [row] = await database.db.select({ refersTo: jobs.refersTo }).from(jobs).where(eq(jobs.id, id));
  expect(row?.refersTo).toEqual([last]);
});
