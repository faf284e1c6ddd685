// What a claim takes with 1,000 and with 1,000,000 jobs in the queue, of which half ask for what the claimer lacks and come first.
// Rows are made by SQL from one that the product has made, without their events.
import type { Sql } from 'postgres';
import { insertJob } from '../../../db/jobs/insert.ts';
import { claimJob } from '../../../db/queue/claim.ts';
import { registerRunner } from '../../../db/runners.ts';
import type { JobRow } from '../../../db/schema.ts';
import { percentile, type BenchResult } from '../report.ts';
import { bare } from './rates.ts';
import type { BenchServer } from './server.ts';

/** Claims measured of each; the first few warm the caches. */
const [measured, warm] = [400, 50];

export async function claimBench(
  server: BenchServer,
  template: JobRow,
  small: boolean,
): Promise<BenchResult[]> {
  const sizes = small ? [100, 1_000] : [1_000, 1_000_000];
  const times: number[][] = [];
  for (const size of sizes) {
    await fill(server, template, size);
    times.push(await claimTimes(server, template, Math.min(measured, size / 2 - 10)));
    await empty(server.connected.sql);
  }
  const [few, many] = times as [number[], number[]];
  const of = (share: number, name: string, values: number[]) => percentile(name, 'ms', share, values);
  const ratio = of(0.99, '', many).value / of(0.99, '', few).value;
  return [
    of(0.5, 'claim_1k_p50', few),
    of(0.99, 'claim_1k_p99', few),
    of(0.5, 'claim_1m_p50', many),
    of(0.99, 'claim_1m_p99', many),
    {
      ...{ name: 'claim_p99_ratio', value: ratio, unit: 'ratio', n: 1, min: ratio, max: ratio },
      ...{ goal: 2, floor: null },
    },
  ];
}

async function claimTimes({ connected: { db } }: BenchServer, { projectId }: JobRow, count: number) {
  const runner = (await registerRunner(db, { projectId }, { ...bare, name: 'claimer' }))!;
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    const claimed = await claimJob(db, { projectId, runner, leaseMs: 3_600_000 });
    times.push(performance.now() - began);
    if (claimed === undefined || claimed === 'unknown_runner') throw new Error('nothing was claimed');
  }
  return times.slice(Math.min(warm, count / 2));
}

/** Half for a GPU, with the smaller ordering keys. */
async function fill({ connected }: BenchServer, template: JobRow, size: number): Promise<void> {
  const { projectId, spec, expanded } = template;
  for (const accelerator of ['cuda', 'cpu'] as const) {
    const resources = { ...expanded.resources, accelerator };
    const { id } = await insertJob(connected.db, { projectId, spec, expanded: { ...expanded, resources } });
    await copies(connected.sql, id, size / 2 - 1, accelerator === 'cuda' ? 0 : size);
  }
  await connected.sql`analyze jobs`;
}

async function copies(sql: Sql, id: string, count: number, from: number): Promise<void> {
  const columns = await sql`
    select column_name as name from information_schema.columns where table_schema = 'public' and table_name = 'jobs'`;
  const names = columns.map(({ name }) => String(name));
  const values: Record<string, string> = {
    id: `'job_' || lpad((n + ${from})::text, 26, '0')`,
    ordering_key: `ordering_key + n + ${from}`,
  };
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(
      `insert into jobs (${names.join(', ')}) select ${names.map((name) => values[name] ?? name).join(', ')}
       from jobs, generate_series(1, ${count}) as n where id = '${id}'`,
    );
  });
}

async function empty(sql: Sql): Promise<void> {
  await sql`truncate jobs cascade`;
  await sql`vacuum`;
}
