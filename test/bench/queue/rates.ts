// Jobs a second with 8 concurrent callers: submitted, then claimed, beaten for once and finished; by the statements themselves, by
// pg-boss (which beats for none), and over HTTP. In turns, so that all see the same machine.
import { createClient } from '../../../api/client.ts';
import type { JobSpecInput } from '../../../api/contract/spec.ts';
import { insertJob } from '../../../db/jobs/insert.ts';
import { createKey } from '../../../db/keys.ts';
import { claimJob } from '../../../db/queue/claim.ts';
import { finishAttempt } from '../../../db/queue/finish.ts';
import { heartbeat } from '../../../db/queue/heartbeat.ts';
import type { JobRow } from '../../../db/schema.ts';
import { registerRunner } from '../../../db/runners.ts';
import { summary, type BenchResult } from '../report.ts';
import { inParallel, timesInParallel } from './in-parallel.ts';
import { startBoss } from './pg-boss.ts';
import { startBenchApi, type BenchServer } from './server.ts';

const workers = 8;
const leaseMs = 30_000;
export const bare = { protocol: 1, accelerator: 'cpu', memory_gb: 8, version: 'bench' } as const;

interface Rate {
  readonly submit: number;
  readonly cycle: number;
}

type Contender = (jobs: number) => Promise<Rate>;

/** `template`: a job that has ended. */
export async function rateBench(
  server: BenchServer,
  template: JobRow,
  small: boolean,
): Promise<BenchResult[]> {
  const [jobs, rounds] = small ? [40, 1] : [2_000, 3];
  const api = await startBenchApi(server);
  const boss = await startBoss(server.url);
  const contenders: Record<string, Contender> = {
    queue: await ourselves(server, template),
    http: await overHttp(server, template, api.url),
    ...(boss && { pg_boss: await ofBoss(boss) }),
  };
  const rates: Record<string, Rate[]> = {};
  for (let round = 0; round <= rounds; round++)
    for (const [name, run] of Object.entries(contenders)) {
      // HTTP is slower: fewer of them take as long. The first round is not counted.
      const rate = await run(name === 'http' ? jobs / 4 : jobs);
      if (round > 0) (rates[name] ??= []).push(rate);
    }
  await boss?.stop({ graceful: false });
  await api.close();
  return resultsOf(rates);
}

function resultsOf(rates: Record<string, Rate[]>): BenchResult[] {
  const told = Object.entries(rates).flatMap(([name, of]) => [
    summary(
      `${name}_submit`,
      'jobs/s',
      of.map(({ submit }) => submit),
    ),
    summary(
      `${name}_cycle`,
      'jobs/s',
      of.map(({ cycle }) => cycle),
    ),
  ]);
  const { queue = [], pg_boss: boss = [] } = rates;
  if (boss.length === 0) return told;
  const over = (what: keyof Rate) => queue.map((rate, round) => rate[what] / boss[round]![what]);
  return [
    ...told,
    summary('queue_submit_over_pg_boss', 'ratio', over('submit'), { goal: 1 }),
    summary('queue_cycle_over_pg_boss', 'ratio', over('cycle'), { goal: 1 }),
  ];
}

const jobOf = ({ projectId, spec, expanded }: JobRow) => ({ projectId, spec, expanded });

async function ourselves({ connected: { db } }: BenchServer, template: JobRow): Promise<Contender> {
  const { projectId } = template;
  const runners = await Promise.all(
    Array.from({ length: workers }, (_, n) => registerRunner(db, { projectId }, { ...bare, name: `r${n}` })),
  );
  const cycle = async (worker: number): Promise<boolean> => {
    const runner = runners[worker]!;
    const claimed = await claimJob(db, { projectId, runner, leaseMs });
    if (claimed === undefined || claimed === 'unknown_runner') return false;
    const fence = { projectId, runner, job: claimed.job.id, attempt: claimed.job.attempt };
    await heartbeat(db, { ...fence, leaseMs });
    await finishAttempt(db, { ...fence, outcome: { type: 'succeeded' }, log: '' });
    return true;
  };
  return async (jobs) => ({
    submit: jobs / (await timesInParallel(jobs, workers, () => insertJob(db, jobOf(template)))),
    cycle: jobs / (await inParallel(workers, cycle)),
  });
}

async function overHttp({ connected }: BenchServer, template: JobRow, url: string): Promise<Contender> {
  const { projectId, spec } = template;
  const key = await createKey(connected.db, { projectId, name: 'bench', scopes: ['admin'] });
  const client = createClient({ url, key: key.secret });
  const runners = await Promise.all(
    Array.from({ length: workers }, (_, n) => client.runner.register({ ...bare, name: `h${n}` })),
  );
  const cycle = async (worker: number): Promise<boolean> => {
    const { runner } = runners[worker]!;
    const { claim } = await client.runner.claim({ runner });
    if (claim === null) return false;
    const fence = { runner, job: claim.job, attempt: claim.attempt };
    await client.runner.heartbeat(fence);
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
    return true;
  };
  return async (jobs) => ({
    submit: jobs / (await timesInParallel(jobs, workers, () => client.createJob(spec as JobSpecInput))),
    cycle: jobs / (await inParallel(workers, cycle)),
  });
}

async function ofBoss(boss: NonNullable<Awaited<ReturnType<typeof startBoss>>>): Promise<Contender> {
  await boss.createQueue('bench');
  const data = { payload: 'x'.repeat(1_000) };
  const cycle = async (): Promise<boolean> => {
    const [job] = await boss.fetch('bench');
    if (job === undefined) return false;
    await boss.complete('bench', job.id);
    return true;
  };
  return async (jobs) => ({
    submit: jobs / (await timesInParallel(jobs, workers, () => boss.send('bench', data))),
    cycle: jobs / (await inParallel(workers, cycle)),
  });
}
