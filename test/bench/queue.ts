// The bench of the queue: jobs a second beside pg-boss and over HTTP, claims among a million, a thousand watchers. One Postgres, one run.
// QUEUE_BENCH=rates,claims,watchers runs some of it.
import { expandSpec } from '../../api/contract/expand.ts';
import { jobSpec, type JobSpecInput } from '../../api/contract/spec.ts';
import { validationReport } from '../../api/contract/dataset.ts';
import { insertDataset } from '../../db/datasets.ts';
import { insertJob } from '../../db/jobs/insert.ts';
import { ensureProject } from '../../db/projects.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import type { JobRow } from '../../db/schema.ts';
import { claimBench } from './queue/claims.ts';
import { rateBench } from './queue/rates.ts';
import { startBenchServer, type BenchServer } from './queue/server.ts';
import { watcherBench } from './queue/watchers.ts';
import type { BenchResult } from './report.ts';

const parts = { rates: rateBench, watchers: watcherBench, claims: claimBench } as const;

export async function queueBench({ small }: { readonly small: boolean }): Promise<BenchResult[]> {
  const wanted = process.env['QUEUE_BENCH']?.split(',') ?? Object.keys(parts);
  const server = await startBenchServer();
  try {
    const template = await endedJob(server);
    const results: BenchResult[] = [];
    for (const [name, run] of Object.entries(parts))
      if (wanted.includes(name)) results.push(...(await run(server, template, small)));
    return results;
  } finally {
    await server.close();
  }
}

/** Of a model that is made from random weights: posting it over HTTP reaches for nothing. */
async function endedJob({ connected: { db } }: BenchServer): Promise<JobRow> {
  const projectId = await ensureProject(db, 'bench');
  const data = await insertDataset(db, {
    ...{ projectId, name: 'rows', kind: 'sft', state: 'ready', rows: 1, size: 2, sha256: 'a'.repeat(64) },
    key: 'datasets/rows.jsonl',
    report: validationReport.parse({ rows: 1, broken: 0, issues: [], unproven: 1 }),
  });
  const spec: JobSpecInput = {
    type: 'sft',
    model: {
      init: {
        from: 'config',
        config: { hidden_size: 16, intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 },
        tokenizer: { type: 'characters', alphabet: '0123456789' },
      },
    },
    stage: { kind: 'sft', data: 'rows', steps: 1 },
  };
  const expanded = expandSpec(jobSpec.parse(spec), new Map([['rows', data!.id]]));
  const job = await insertJob(db, { projectId, spec, expanded });
  await cancelJob(db, projectId, job.id);
  return job;
}
