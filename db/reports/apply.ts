// A runner's report: numbered entries and log lines, applied once and whole. Events, metrics, evaluations,
// the index of samples and the log change in one transaction, or nothing does.
import { eq } from 'drizzle-orm';
import type { Entry } from '../../api/contract/event.ts';
import type { ReportRequest } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { recordEvaluations } from '../evaluations/record.ts';
import { appendEvents } from '../events/append.ts';
import { appendLog } from '../logs/append.ts';
import { recordMetrics } from '../metrics/record.ts';
import { lockHeld, progressedNow, type Fence, type HeldJob, type LeaseLost } from '../queue/fence.ts';
import { recordSamples } from '../samples/record.ts';
import { jobs, runnerReports } from '../schema.ts';

export type Report = Fence & Pick<ReportRequest, 'sequence' | 'entries' | 'log'>;

/** `applied` is false if this number of this attempt had been applied before: then nothing changes. */
export async function applyReport(db: Database, report: Report): Promise<{ applied: boolean } | LeaseLost> {
  return await db.transaction(async (tx) => {
    const job = await lockHeld(tx, report);
    if (job === 'lease_lost') return job;
    if (!(await takeNumber(tx, job, report.sequence))) return { applied: false };
    await tx.update(jobs).set({ progressedAt: progressedNow }).where(eq(jobs.id, job.id));
    await applyEntries(tx, job, report.entries);
    await appendLog(tx, report, report.log);
    return { applied: true };
  });
}

async function takeNumber(tx: Database, job: HeldJob, sequence: number): Promise<boolean> {
  const rows = await tx
    .insert(runnerReports)
    .values({ jobId: job.id, attempt: job.attempt, sequence, projectId: job.projectId })
    .onConflictDoNothing()
    .returning({ sequence: runnerReports.sequence });
  return rows.length > 0;
}

async function applyEntries(tx: Database, job: HeldJob, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const first = await appendEvents(tx, job.id, job.attempt, entries.map(asEvent));
  if (first === undefined) throw new Error(`internal: job ${job.id} is locked as held and takes no events`);
  const numbered = entries.map((entry, index) => ({ entry, seq: first + index }));
  const of = { job: job.id, attempt: job.attempt, projectId: job.projectId };
  await recordMetrics(tx, of, numbered.flatMap(metricsOf));
  await recordEvaluations(tx, of, numbered.flatMap(evaluationsOf));
  await recordSamples(tx, of, numbered.flatMap(samplesOf));
}

/** Values of single tasks are kept with the cells, and not told to everyone who follows the job. */
const asEvent = (entry: Entry): Entry =>
  entry.type === 'evaluation'
    ? { ...entry, cells: entry.cells.map(({ values: _, ...cell }) => cell) }
    : entry;

interface Numbered {
  entry: Entry;
  seq: number;
}

/** Of the whole batch under the step's mode, and of each of its halves under its own. */
function metricsOf({ entry, seq }: Numbered) {
  if (entry.type !== 'step' && entry.type !== 'step_skipped') return [];
  const { stage, phase, step, mode, metrics, modes = {} } = entry;
  return [
    { mode, metrics },
    ...Object.entries(modes).map(([of, metrics]) => ({ mode: of as keyof typeof modes, metrics })),
  ].flatMap((told) =>
    Object.entries(told.metrics).map(([key, value]) => ({
      ...{ stage, phase, step, mode: told.mode, key, value, seq },
    })),
  );
}

function evaluationsOf({ entry, seq }: Numbered) {
  if (entry.type !== 'evaluation') return [];
  const { after, step = null } = entry;
  return entry.cells.map(({ values = null, ...cell }) => ({ ...cell, values, after, step, seq }));
}

function samplesOf({ entry }: Numbered) {
  if (entry.type !== 'samples') return [];
  const { stage, phase, step, key } = entry;
  return entry.rows.map((row) => ({ ...row, stage, phase, step, key }));
}
