// Who runs what: limits of projects, exact whatever races; runners that serve every project, and take turns between them; priorities
// that waiting outweighs.
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { RegisterRequest } from '../../api/contract/runner.ts';
import { claimErrand } from '../../db/errands/claim.ts';
import { finishErrand } from '../../db/errands/finish.ts';
import { insertErrand } from '../../db/errands/insert.ts';
import { priorityStepMs } from '../../db/jobs/insert.ts';
import { claimJob } from '../../db/queue/claim.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { applyReport } from '../../db/reports/apply.ts';
import { registerRunner } from '../../db/runners.ts';
import { projects } from '../../db/schema.ts';
import { useDatabase } from '../support/postgres.ts';
import { insertJob, insertProject, insertRunner, jobRow, leaseMs, upTo } from './support.ts';

const pg = useDatabase();

const bare = { protocol: 1, accelerator: 'cpu', memory_gb: 8, version: '1' } as const;
let count = 0;

/** Its key is of a project that owns nothing else. */
async function sharedRunner(properties: Partial<RegisterRequest> = {}) {
  const key = { projectId: await insertProject(pg.db), shared: true };
  const id = await registerRunner(pg.db, key, { ...bare, name: `shared-${++count}`, ...properties });
  return { ...key, runner: id! };
}

type Claimer = Awaited<ReturnType<typeof sharedRunner>>;

async function claims(claimer: { projectId: string; runner: string; shared?: boolean }) {
  const claimed = await claimJob(pg.db, { ...claimer, leaseMs });
  if (claimed === 'unknown_runner') throw new Error('the runner is not known');
  return claimed?.job;
}

const fenceOf = (claimer: Claimer, { id, attempt }: { id: string; attempt: number }): Fence => ({
  ...claimer,
  job: id,
  attempt,
});

const finish = (fence: Fence) =>
  finishAttempt(pg.db, { ...fence, outcome: { type: 'succeeded' }, log: 'done\n' });

async function projectWith(
  jobs: number,
  settings: Partial<typeof projects.$inferInsert> = {},
): Promise<string> {
  const projectId = await insertProject(pg.db);
  if (Object.keys(settings).length > 0)
    await pg.db.update(projects).set(settings).where(eq(projects.id, projectId));
  for (let n = 0; n < jobs; n++) await insertJob(pg.db, { projectId });
  return projectId;
}

/** The queue is empty for whoever comes next. */
const clear = () => pg.sql`update jobs set state = 'cancelled' where state in ('queued', 'paused')`;

test('no more than max_running run at a time, whoever asks at once, and the rest stay queued', async () => {
  const projectId = await projectWith(14, { maxRunning: 4 });
  const own = await Promise.all(upTo(6).map(() => insertRunner(pg.db, projectId)));
  const shared = await Promise.all(upTo(2).map(() => sharedRunner()));
  const claimers = [...own.map((runner) => ({ projectId, runner, shared: false })), ...shared];
  const taken = new Set<string>();
  while (taken.size < 14) {
    // While some finish others ask.
    const round = await Promise.all(
      claimers.map(async (claimer) => ({ claimer, job: await claims(claimer) })),
    );
    const running = round.flatMap(({ claimer, job }) => (job === undefined ? [] : [{ claimer, job }]));
    expect(running.length).toBe(Math.min(4, 14 - taken.size));
    for (const { job } of running) taken.add(job.id);
    const [late, ...ending] = running.map(
      ({ claimer, job }) =>
        () =>
          finish(fenceOf(claimer, job)),
    );
    const asking = claimers.map(async (claimer) => ({ claimer, job: await claims(claimer) }));
    await Promise.all(ending.map((end) => end()));
    const more = (await Promise.all(asking)).filter(({ job }) => job !== undefined);
    expect(1 + more.length).toBeLessThanOrEqual(4);
    await late!();
    for (const { claimer, job } of more) {
      taken.add(job!.id);
      await finish(fenceOf(claimer, job!));
    }
  }
  const [ended] = await pg.sql`
    select count(*)::int as n from jobs where project_id = ${projectId} and state = 'succeeded' and attempt = 1`;
  expect(ended?.['n']).toBe(14);
});

test('a limit of nothing holds everything back; lifted, everything runs', async () => {
  const projectId = await projectWith(2, { maxRunning: 0 });
  const runner = await insertRunner(pg.db, projectId);
  expect(await claims({ projectId, runner })).toBeUndefined();
  await pg.db.update(projects).set({ maxRunning: 1 }).where(eq(projects.id, projectId));
  expect(await claims({ projectId, runner })).toBeDefined();
  expect(await claims({ projectId, runner })).toBeUndefined();
  await pg.db.update(projects).set({ maxRunning: null }).where(eq(projects.id, projectId));
  expect(await claims({ projectId, runner })).toBeDefined();
});

test('claims of a project without a limit wait for no other, and skip what another holds', async () => {
  const projectId = await projectWith(3);
  const runners = await Promise.all(upTo(3).map(() => insertRunner(pg.db, projectId)));
  await pg.db.transaction(async (tx) => {
    const first = await claimJob(tx, { projectId, runner: runners[0]!, leaseMs });
    const rest = [
      await claims({ projectId, runner: runners[1]! }),
      await claims({ projectId, runner: runners[2]! }),
    ];
    const ids = [(first as { job: { id: string } }).job.id, ...rest.map((job) => job!.id)];
    expect(new Set(ids).size).toBe(3);
  });
});

test('a shared runner takes jobs of every project, and its fence holds there', async () => {
  await clear();
  const projectId = await projectWith(1);
  const claimer = await sharedRunner();
  const job = (await claims(claimer))!;
  expect(job.projectId).toBe(projectId);
  const fence = fenceOf(claimer, job);
  expect(await heartbeat(pg.db, { ...fence, leaseMs })).toBe('continue');
  const entries = [{ type: 'stage_started' as const, stage: 'sft', stage_index: 0, steps: 1 }];
  const other = await sharedRunner();
  const strangers: Fence[] = [
    { ...fence, shared: false },
    { ...fence, projectId, shared: false, runner: await insertRunner(pg.db, projectId) },
    { ...fence, ...other },
    { ...fence, projectId: other.projectId },
    { ...fence, projectId },
  ];
  for (const stranger of strangers) {
    expect(await heartbeat(pg.db, { ...stranger, leaseMs })).toBe('lease_lost');
    expect(await applyReport(pg.db, { ...stranger, sequence: 1, entries, log: 'x' })).toBe('lease_lost');
    expect(await finish(stranger)).toBe('lease_lost');
  }
  expect(await applyReport(pg.db, { ...fence, sequence: 1, entries, log: 'x' })).toEqual({ applied: true });
  const [piece] = await pg.sql`select project_id from log_pieces where job_id = ${job.id}`;
  expect(piece?.['project_id']).toBe(projectId);
  expect(await finish(fence)).toEqual({ state: 'succeeded' });
  expect(await finish(fence)).toEqual({ state: 'succeeded' });
});

test('only a key for it speaks for a shared runner, and it takes no name from another', async () => {
  const { projectId, runner } = await sharedRunner({ name: 'mine' });
  expect(await claimJob(pg.db, { projectId, runner, leaseMs })).toBe('unknown_runner');
  expect(await registerRunner(pg.db, { projectId }, { ...bare, name: 'mine' })).toBeUndefined();
  const own = await registerRunner(pg.db, { projectId }, { ...bare, name: 'own' });
  expect(await registerRunner(pg.db, { projectId, shared: true }, { ...bare, name: 'own' })).toBeUndefined();
  expect(await claimJob(pg.db, { projectId, shared: true, runner: own!, leaseMs })).toBe('unknown_runner');
  expect(await registerRunner(pg.db, { projectId, shared: true }, { ...bare, name: 'mine' })).toBe(runner);
});

/** How many jobs of each project run once `runners` shared runners have asked in turn. */
async function shares(ids: readonly string[], runners: number): Promise<number[]> {
  const taken = ids.map(() => 0);
  for (let n = 0; n < runners; n++) {
    const job = await claims(await sharedRunner());
    if (job !== undefined) taken[ids.indexOf(job.projectId)]! += 1;
  }
  return taken;
}

test('shared runners are shared evenly, or by weight, whoever posted first or most', async () => {
  await clear();
  expect(await shares([await projectWith(6), await projectWith(3), await projectWith(3)], 9)).toEqual([
    3, 3, 3,
  ]);
  await clear();
  expect(await shares([await projectWith(6), await projectWith(6, { weight: 3 })], 8)).toEqual([2, 6]);
  await clear();
  // What one project leaves, others get.
  expect(await shares([await projectWith(6), await projectWith(1)], 4)).toEqual([3, 1]);
  await clear();
  expect(await shares([await projectWith(6), await projectWith(6, { maxRunning: 1 })], 4)).toEqual([3, 1]);
});

test('one shared runner with short jobs serves projects in turn', async () => {
  await clear();
  const ids = [await projectWith(5), await projectWith(5), await projectWith(2)];
  const claimer = await sharedRunner();
  const served: number[] = [];
  for (let n = 0; n < 8; n++) {
    const job = (await claims(claimer))!;
    served.push(ids.indexOf(job.projectId));
    await finish(fenceOf(claimer, job));
  }
  expect([0, 1, 2].map((place) => served.filter((one) => one === place).length)).toEqual([3, 3, 2]);
  await clear();
});

test('a project with nothing that fits the runner is passed over', async () => {
  await clear();
  const big = await insertProject(pg.db);
  await insertJob(pg.db, { projectId: big, spec: { resources: { accelerator: 'cuda' } } });
  const small = await projectWith(1);
  const claimer = await sharedRunner();
  expect((await claims(claimer))?.projectId).toBe(small);
  expect(await claims(claimer)).toBeUndefined();
});

test('errands of every project, too', async () => {
  const projectId = await insertProject(pg.db);
  const claimer = await sharedRunner({ grader: true });
  const items = [{ task: { prompt: '1+1=', answer: '2' }, response: '2' }];
  const errand = await insertErrand(pg.db, projectId, {
    kind: 'grade',
    grader: { type: 'exact' },
    items,
  } as Parameters<typeof insertErrand>[2]);
  const claimed = await claimErrand(pg.db, { ...claimer, kinds: ['grade'], leaseMs });
  expect(claimed).toMatchObject({ id: errand, projectId });
  const stopped = { type: 'failed', reason: 'invalid', message: 'x' } as unknown as Parameters<
    typeof finishErrand
  >[2];
  expect(await finishErrand(pg.db, { ...claimer, shared: false, errand, attempt: 1 }, stopped)).toBe(
    'lease_lost',
  );
  expect(await finishErrand(pg.db, { ...claimer, errand, attempt: 1 }, stopped)).toEqual({ state: 'failed' });
});

test('a step of priority is worth an hour of waiting', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const waited = async (priority: number, hours: number) => {
    const id = await insertJob(pg.db, { projectId, spec: { priority } });
    await pg.sql`update jobs set ordering_key = ordering_key - ${hours}::bigint * ${priorityStepMs * 1000}::bigint where id = ${id}`;
    return id;
  };
  const patient = await waited(0, 6);
  const high = await waited(5, 0);
  const low = await waited(-1, 0);
  const normal = await waited(0, 0);
  const order: string[] = [];
  for (let n = 0; n < 4; n++) order.push((await claims({ projectId, runner }))!.id);
  expect(order).toEqual([patient, high, normal, low]);
});

test('jobs that wait are not in the way: what needs, delays and data hold back is out of the index of claimable jobs', async () => {
  const projectId = await insertProject(pg.db);
  const id = await insertJob(pg.db, { projectId });
  await pg.sql`update jobs set available_at = now() + interval '1 hour' where id = ${id}`;
  expect((await jobRow(pg.db, id)).delayed).toBe(true);
  await pg.sql`update jobs set available_at = now() where id = ${id}`;
  expect((await jobRow(pg.db, id)).delayed).toBe(false);
});

test('two datasets that become ready at the same moment set their job free', async () => {
  const projectId = await insertProject(pg.db);
  const first = await jobRow(pg.db, await insertJob(pg.db, { projectId, state: 'cancelled' }));
  const second = await jobRow(pg.db, await insertJob(pg.db, { projectId, state: 'cancelled' }));
  const both = [first.datasetIds[0]!, second.datasetIds[0]!];
  const array = `{${both.join(',')}}`;
  for (let round = 0; round < 10; round++) {
    await pg.sql`update datasets set state = 'validating' where id = any(${array}::text::text[])`;
    const id = await insertJob(pg.db, { projectId });
    await pg.sql`update jobs set dataset_ids = ${array}::text::text[], awaits_data = true where id = ${id}`;
    await Promise.all(both.map((one) => pg.sql`update datasets set state = 'ready' where id = ${one}`));
    expect((await jobRow(pg.db, id)).awaitsData).toBe(false);
  }
});
