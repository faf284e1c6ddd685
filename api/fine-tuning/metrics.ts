// Metrics of a job of one stage by its steps, under the names that OpenAI's clients draw; and as the CSV of its result file.
import type { Database } from '../../db/connect.ts';
import { listEvaluations } from '../../db/evaluations/list.ts';
import type { FineTuning } from '../../db/fine-tuning.ts';
import { metricsOfSteps } from '../../db/metrics/steps.ts';
import type { JobRow } from '../../db/schema.ts';
import type { File } from '../contract/file.ts';
import { secondsOf } from '../files/view.ts';
import { resultFileId } from './view.ts';

export type StepMetrics = Readonly<Record<string, number>>;

const names: Readonly<Record<string, string>> = { loss: 'train_loss', reward: 'train_reward' };

/** `steps`: those wanted; all where not given. */
export async function metricsByStep(
  db: Database,
  job: Pick<JobRow, 'id' | 'progress'>,
  steps?: readonly number[],
): Promise<ReadonlyMap<number, StepMetrics>> {
  const found = new Map<number, Record<string, number>>();
  const put = (step: number, key: string, value: number | null): void => {
    if (value === null || (steps !== undefined && !steps.includes(step))) return;
    const metrics = found.get(step) ?? {};
    metrics[key] = value;
    found.set(step, metrics);
  };
  for (const { step, key, value } of await metricsOfSteps(db, job.id, steps))
    put(step, names[key] ?? key, value);
  const last = job.progress?.steps ?? Math.max(0, ...found.keys());
  for (const { after, step, metric, value } of await listEvaluations(db, job.id))
    put(
      after === 'initial' ? 0 : (step ?? last),
      metric === 'loss' ? 'full_valid_loss' : `valid_${metric}`,
      value,
    );
  return found;
}

export interface ResultFile {
  readonly view: File;
  readonly bytes: Buffer;
}

/** One line a step, one column a metric. */
export async function resultFileOf(db: Database, { job }: FineTuning): Promise<ResultFile> {
  const found = [...(await metricsByStep(db, job))].sort(([a], [b]) => a - b);
  const columns = [...new Set(found.flatMap(([, metrics]) => Object.keys(metrics)))].sort();
  const lines = found.map(([step, metrics]) => [step, ...columns.map((key) => metrics[key] ?? '')].join(','));
  const bytes = Buffer.from(`${[['step', ...columns].map(quoted).join(','), ...lines].join('\n')}\n`);
  return {
    bytes,
    view: {
      id: resultFileId(job.id),
      object: 'file',
      bytes: bytes.byteLength,
      created_at: secondsOf(job.finishedAt ?? job.createdAt),
      filename: 'step_metrics.csv',
      purpose: 'fine-tune-results',
      status: 'processed',
      expires_at: null,
    },
  };
}

/** Names of metrics may hold what names of suites and domains may. */
const quoted = (name: string): string => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
