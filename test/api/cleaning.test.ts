// Turns of cleaning on a real database and store: litter, thinning, what is forgotten with age; each in parts, twice at once.
import { beforeEach, describe, expect, test } from 'vitest';
import { clean } from '../../api/retention/clean.ts';
import { removeDoomed } from '../../api/retention/doomed.ts';
import { defaultKeep } from '../../api/retention/keep.ts';
import { doom } from '../../db/retention/doomed.ts';
import { doomedObjects } from '../../db/retention/table.ts';
import { StoreError } from '../../store/error.ts';
import { registerDatasets, spec, useApi } from './support.ts';
import {
  clockOf,
  commitAt,
  day,
  endedAgo,
  keysIn,
  passesDue,
  runningJob,
  succeed,
} from './retention-support.ts';

const api = useApi();
const { database } = api;
beforeEach(async () => {
  await passesDue(database.db);
  await database.sql`update jobs set state = 'cancelled', finished_at = now() where state in ('queued', 'paused')`;
});

const put = (key: string) => api.store.put(key, Buffer.from('x'));
/** What is found goes in the same turn; a second one shows that nothing is left to do. */
const cleaned = async (options: Parameters<typeof clockOf>[1] = {}) => {
  await clean(clockOf(api, options));
  await clean(clockOf(api, options));
};
const dueNow = () => database.sql`update doomed_objects set not_before = now()`;

const sample = (line: number) => ({ line, task: 0, rollout: line, mode: 'non_thinking', status: 'scored', reward: 1 }) as const; // prettier-ignore

describe('litter', () => {
  /** An attempt that committed one checkpoint and one shard, and was killed over another of each. */
  async function killedAttempt() {
    const client = api.client();
    const job = await runningJob(client);
    const base = `jobs/${job.id}/a1/`;
    await commitAt(api, client, job, 1);
    for (const name of [
      'samples/0-sft-1.jsonl',
      'samples/0-sft-2.jsonl',
      '0-sft/step-000002/model.safetensors',
    ])
      await put(base + name);
    const entry = { type: 'samples', stage: 'sft', phase: 0, step: 1, key: `${base}samples/0-sft-1.jsonl`, rows: [sample(0)] } as const; // prettier-ignore
    await client.runner.report({
      ...job.fence,
      sequence: 1,
      log: '',
      entries: [{ ...entry, rows: [...entry.rows] }],
    });
    return { ...job, base };
  }
  const named = [
    '0-sft/step-000001/manifest.json',
    '0-sft/step-000001/model.safetensors',
    'samples/0-sft-1.jsonl',
  ];

  test('of an attempt at work nothing goes, however old', async () => {
    const { base, ...job } = await killedAttempt();
    await database.sql`update attempts set started_at = now() - interval '30 days'`;
    await cleaned({ ahead: 30 * day });
    await dueNow();
    await cleaned({ ahead: 30 * day });
    expect(await keysIn(api.store, base)).toHaveLength(5);
    await succeed(api.client(), job);
  });

  test('of one that ended: what nothing names goes once it is old by the store’s time, the rest stays', async () => {
    const { id, base, ...job } = await killedAttempt();
    await succeed(api.client(), { id, ...job });
    await cleaned();
    expect(
      await database.sql`select 1 from attempts where job_id = ${id} and swept_at is not null`,
    ).toHaveLength(0);
    await endedAgo(api, id, 25 * 3_600_000);
    await cleaned();
    // Written just now: found, and not yet old enough.
    expect(await keysIn(api.store, base)).toHaveLength(5);
    expect((await database.db.select().from(doomedObjects)).map(({ prefix }) => prefix.slice(base.length)).sort()).toEqual(['0-sft/step-000002/model.safetensors', 'samples/0-sft-2.jsonl']); // prettier-ignore
    await dueNow();
    await cleaned();
    expect(await keysIn(api.store, base)).toEqual(named);
    expect(await database.db.select().from(doomedObjects)).toEqual([]);
  });

  test('folders of jobs and datasets without a row go when they are old, those with one stay', async () => {
    await registerDatasets(api.client());
    const lost = [`jobs/job_${'0'.repeat(26)}/a1/x`, `datasets/ds_${'0'.repeat(26)}/rows.jsonl`];
    for (const key of lost) await put(key);
    const before = await keysIn(api.store, 'datasets/');
    await cleaned();
    expect(await keysIn(api.store, 'datasets/')).toEqual(before);
    await passesDue(database.db);
    await cleaned({ ahead: 25 * 3_600_000 });
    for (const key of lost) expect(await api.store.head(key)).toBeUndefined();
    expect(await keysIn(api.store, 'datasets/')).toHaveLength(before.length - 1);
  });

  test('a dataset that is deleted is gone although the store was away', async () => {
    const client = api.client();
    const { id } = await client.createDataset({ name: 'short-lived', kind: 'sft' }, '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'); // prettier-ignore
    const { delete: original } = api.store;
    (api.store as { delete: unknown }).delete = () =>
      Promise.reject(new StoreError('unreachable', { store: 'x', operation: 'delete', problem: 'away' }));
    try {
      await client.deleteDataset(id);
      await clean(clockOf(api));
    } finally {
      (api.store as { delete: unknown }).delete = original;
    }
    expect(await api.store.head(`datasets/${id}/rows.jsonl`)).toBeDefined();
    await dueNow();
    await clean(clockOf(api));
    expect(await api.store.head(`datasets/${id}/rows.jsonl`)).toBeUndefined();
  });
});

describe('doomed objects', () => {
  test('more than a turn takes go in several, and two turns at once harm nothing', async () => {
    for (let made = 10; made < 35; made++) await put(`jobs/many/${made}`);
    await doom(database.db, [{ prefix: 'jobs/many/', notBefore: new Date(0) }]);
    const turn = () => removeDoomed(clockOf(api), 10);
    const [one, two] = await Promise.all([turn(), turn()]);
    expect([10, 20]).toContain(one! + two!);
    while ((await turn()) === 10);
    expect(await keysIn(api.store, 'jobs/many/')).toEqual([]);
    expect(await database.db.select().from(doomedObjects)).toEqual([]);
  });

  test('a committed checkpoint below a doomed prefix stays', async () => {
    const client = api.client();
    const job = await runningJob(client);
    await commitAt(api, client, job, 1);
    await put(`jobs/${job.id}/a1/0-sft/x`);
    await doom(database.db, [{ prefix: `jobs/${job.id}/`, notBefore: new Date(0) }]);
    await cleaned();
    expect(await keysIn(api.store, `jobs/${job.id}/a1/0-sft/`)).toHaveLength(2);
    await succeed(client, job);
  });
});

describe('thinning', () => {
  test('a job at work keeps its newest steps, ends of stages, pins and what others name', async () => {
    const client = api.client();
    const job = await runningJob(client, { checkpoints: { every_steps: 1, keep_last: 2 } });
    const made: string[] = [];
    for (let step = 1; step <= 7; step++)
      made.push(await commitAt(api, client, job, step, step === 2 ? { kind: 'stage_end' } : {}));
    await client.pinCheckpoint(made[2]!);
    const init = { model: { init: { from: 'checkpoint', checkpoint: made[3]! } }, stages: [{ kind: 'sft', data: 'sft', steps: 1 }], evaluate: undefined }; // prettier-ignore
    const { id: user } = await client.createJob(spec(init));
    const steps = async () => (await client.checkpoints(job.id)).data.map(({ step }) => step).reverse();
    await Promise.all([clean(clockOf(api)), clean(clockOf(api))]);
    await passesDue(database.db);
    await cleaned();
    expect(await steps()).toEqual([2, 3, 4, 6, 7]);
    await client.cancelJob(user);
    await cleaned();
    expect(await steps()).toEqual([2, 3, 6, 7]);
    expect(await keysIn(api.store, `jobs/${job.id}/a1/0-sft/`)).toHaveLength(8);
    await succeed(client, job);
    await cleaned();
    expect(await steps()).toEqual([2, 3, 6, 7]);
  });

  test('without a policy everything stays', async () => {
    const client = api.client();
    const job = await runningJob(client);
    for (let step = 1; step <= 4; step++) await commitAt(api, client, job, step);
    await cleaned();
    expect((await client.checkpoints(job.id)).data).toHaveLength(4);
    await succeed(client, job);
  });
});

describe('what is forgotten with age', () => {
  async function oldJob() {
    const client = api.client();
    const job = await runningJob(client);
    const key = `jobs/${job.id}/a1/samples/0-sft-1.jsonl`;
    await put(key);
    const entries = [
      { type: 'stage_started' as const, stage: 'sft', stage_index: 0, steps: 2 },
      { type: 'samples' as const, stage: 'sft', phase: 0, step: 1, key, rows: [sample(0), sample(1)] },
    ];
    await client.runner.report({ ...job.fence, sequence: 1, log: 'said', entries });
    const checkpoints = [await commitAt(api, client, job, 1), await commitAt(api, client, job, 2, { kind: 'stage_end' }), await commitAt(api, client, job, 3, { kind: 'final' })]; // prettier-ignore
    return { ...job, key, checkpoints };
  }
  const keep = { eventsMs: 90 * day, samplesMs: 30 * day, checkpointsMs: 60 * day };
  const left = async (id: string) => {
    const client = api.client();
    const { data } = await client.eventsPage(id);
    const [samples] = await database.sql`select count(*)::int as n from samples where job_id = ${id}`;
    return {
      events: data.filter(({ body }) => body.type !== 'state').length,
      states: data.filter(({ body }) => body.type === 'state').length,
      log: await client.logs(id),
      samples: samples?.['n'] as number,
      steps: (await client.checkpoints(id)).data.map(({ step }) => step).reverse(),
    };
  };

  test('each kind after its time; states and the last checkpoint stay', async () => {
    const job = await oldJob();
    await succeed(api.client(), job);
    const whole = await left(job.id);
    expect(whole).toMatchObject({ states: 3, log: 'said', samples: 2, steps: [1, 2, 3] });
    expect(whole.events).toBeGreaterThan(3);
    await cleaned({ keep });
    expect(await left(job.id)).toEqual(whole);

    await passesDue(database.db);
    await endedAgo(api, job.id, 31 * day);
    await cleaned({ keep });
    expect(await left(job.id)).toEqual({ ...whole, samples: 0 });
    expect(await api.store.head(job.key)).toBeUndefined();

    await passesDue(database.db);
    await endedAgo(api, job.id, 61 * day);
    await cleaned({ keep });
    expect(await left(job.id)).toEqual({ ...whole, samples: 0, steps: [3] });

    await passesDue(database.db);
    await endedAgo(api, job.id, 91 * day);
    await Promise.all([clean(clockOf(api, { keep })), clean(clockOf(api, { keep }))]);
    expect(await left(job.id)).toEqual({ events: 0, states: 3, log: '', samples: 0, steps: [3] });
    expect((await api.client().job(job.id)).last_checkpoint).toBe(job.checkpoints[2]);
  });

  test('a job that has not ended keeps everything, by whatever setting', async () => {
    const job = await oldJob();
    await database.sql`update jobs set created_at = now() - interval '1 year', started_at = now() - interval '1 year' where id = ${job.id}`;
    const whole = await left(job.id);
    await cleaned({ keep });
    expect(await left(job.id)).toEqual(whole);
    await succeed(api.client(), job);
  });

  test('without settings everything stays for ever', async () => {
    const job = await oldJob();
    await succeed(api.client(), job);
    await endedAgo(api, job.id, 3_650 * day);
    const whole = await left(job.id);
    await cleaned();
    expect(await left(job.id)).toEqual(whole);
    expect(defaultKeep).toEqual({ litterMs: day, deliveriesMs: 30 * day });
  });

  test('a pinned checkpoint stays, and goes in a later pass once it is unpinned', async () => {
    const job = await oldJob();
    await succeed(api.client(), job);
    await endedAgo(api, job.id, 61 * day);
    await api.client().pinCheckpoint(job.checkpoints[0]!);
    await cleaned({ keep });
    expect((await left(job.id)).steps).toEqual([1, 3]);
    await api.client().unpinCheckpoint(job.checkpoints[0]!);
    await cleaned({ keep });
    expect((await left(job.id)).steps).toEqual([1, 3]);
    await database.sql`update passes set due_at = now()`;
    await cleaned({ keep });
    expect((await left(job.id)).steps).toEqual([3]);
  });
});
