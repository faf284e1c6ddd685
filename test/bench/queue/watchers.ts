// A thousand watchers of ten running jobs: how long an event takes from the runner's report to a watcher, and what they cost the API
// in memory.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../../api/client.ts';
import { createKey } from '../../../db/keys.ts';
import type { JobRow } from '../../../db/schema.ts';
import { insertJob } from '../../../db/jobs/insert.ts';
import { percentile, summary, type BenchResult } from '../report.ts';
import { bare } from './rates.ts';
import { startBenchApi, type BenchServer } from './server.ts';

const watchedJobs = 10;

export async function watcherBench(
  server: BenchServer,
  template: JobRow,
  small: boolean,
): Promise<BenchResult[]> {
  const [watchers, reports] = small ? [20, 2] : [1_000, 20];
  const { db } = server.connected;
  const { projectId, spec, expanded } = template;
  const key = await createKey(db, { projectId, name: 'watch', scopes: ['admin'] });
  const api = await startBenchApi(server);
  const client = createClient({ url: api.url, key: key.secret });
  const { runner } = await client.runner.register({ ...bare, name: 'watched' });
  const fences: { runner: string; job: string; attempt: number }[] = [];
  for (let n = 0; n < watchedJobs; n++) {
    await insertJob(db, { projectId, spec, expanded });
    const { claim } = await client.runner.claim({ runner });
    fences.push({ runner, job: claim!.job, attempt: claim!.attempt });
  }
  const before = await api.memory();
  const closing = new AbortController();
  const sent = new Map<string, number>();
  const took: number[] = [];
  const follow = async (job: string): Promise<void> => {
    for await (const { body } of client.events(job, { signal: closing.signal }))
      if (body.type === 'step') took.push(performance.now() - sent.get(`${job} ${body.step}`)!);
  };
  const following = Array.from({ length: watchers }, (_, n) =>
    follow(fences[n % watchedJobs]!.job).catch(() => undefined),
  );
  await delay(small ? 500 : 15_000);
  for (let step = 1; step <= reports; step++)
    for (const fence of fences) {
      sent.set(`${fence.job} ${step}`, performance.now());
      const entry = { type: 'step' as const, stage: 'sft', phase: 0, step, metrics: { loss: 1 } };
      await client.runner.report({ ...fence, sequence: step, entries: [entry] });
    }
  const wanted = watchers * reports;
  for (let waited = 0; took.length < wanted && waited < 600; waited++) await delay(100);
  const memory = (await api.memory()) - before;
  closing.abort();
  await Promise.all(following);
  await api.close();
  return [
    percentile('sse_delivery_p50', 'ms', 0.5, took),
    percentile('sse_delivery_p95', 'ms', 0.95, took, { goal: 1_000 }),
    summary('sse_delivered', 'share', [took.length / wanted], { goal: 1 }),
    summary('sse_memory_a_watcher', 'MB', [memory / watchers], { goal: 0.25 }),
  ];
}
