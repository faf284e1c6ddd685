// Which checkpoints of steps a job no longer keeps, by `checkpoints` of its spec. Ends of stages are not thinned, nor are checkpoints
// that somebody refers to (checkpoints/remove.ts).
import { sql } from 'drizzle-orm';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { strongestIn } from '../../api/contract/strongest.ts';
import { removeCheckpoints } from '../checkpoints/remove.ts';
import type { Database } from '../connect.ts';
import { listEvaluations } from '../evaluations/list.ts';
import type { CheckpointRow, EvaluationRow } from '../schema.ts';

/** Jobs with more checkpoints of steps than they keep, by id, from a position on. */
export async function jobsToThin(db: Database, position: string | null, limit: number): Promise<string[]> {
  const rows = await db.execute<{ id: string }>(sql`
    select id from jobs j
    where keep_last is not null and id > ${position ?? ''}
      and (select count(*) from checkpoints c where c.job_id = j.id and c.kind = 'step') > keep_last
    order by id limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** How many went; none where another process has the job's row. */
export async function thinCheckpoints(db: Database, jobId: string): Promise<number> {
  return await db.transaction(async (tx) => {
    const [job] = await tx.execute<{ policy: unknown; suites: unknown }>(sql`
      select expanded -> 'checkpoints' as policy, expanded #> '{evaluate,suites}' as suites
      from jobs where id = ${jobId} for update skip locked`);
    if (job === undefined) return 0;
    const rows = await tx.execute<Held>(sql`
      select id, stage, stage_index as "stageIndex", step, kind, attempt from checkpoints
      where job_id = ${jobId} order by stage_index, step, attempt, id`);
    const cells = await listEvaluations(tx, jobId);
    const policy = parsed(job.policy) as ExpandedSpec['checkpoints'];
    const suites = parsed(job.suites) as ExpandedSpec['evaluate']['suites'];
    const domains = [...new Set(suites.map(({ domain }) => domain))];
    return await removeCheckpoints(tx, jobId, thinned(policy, domains, rows, cells));
  });
}

const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

export type Held = Pick<CheckpointRow, 'id' | 'stage' | 'stageIndex' | 'step' | 'kind' | 'attempt'>;
export type Cell = Pick<EvaluationRow, 'after' | 'step' | 'suite' | 'domain' | 'mode' | 'metric' | 'value'>;

/**
 * Ids of those that go: checkpoints of steps, but the newest `keep_last`, the best by `keep_best` and the best of each domain. `held` in
 * the order of the run.
 */
export function thinned(
  { keep_last, keep_best }: ExpandedSpec['checkpoints'],
  domains: readonly string[],
  held: readonly Held[],
  cells: readonly Cell[],
): string[] {
  if (keep_last === undefined) return [];
  const evaluated = held.map((one) => ({ id: one.id, cells: cells.filter((cell) => isOf(cell, one)) }));
  const kept = new Set([
    // By id: in the order in which they were committed.
    ...held
      .filter(({ kind }) => kind === 'step')
      .map(({ id }) => id)
      .sort()
      .slice(-keep_last),
    ...domains.map((domain) => strongestIn(domain, evaluated)?.end.id),
    keep_best && bestBy(keep_best.metric, evaluated),
  ]);
  return held.filter(({ id, kind }) => kind === 'step' && !kept.has(id)).map(({ id }) => id);
}

/** Whether the cell was measured at the checkpoint: at a step of its stage, or at the stage's end. */
const isOf = (cell: Cell, { stage, step, kind }: Held): boolean =>
  cell.after === stage && (cell.step === null ? kind !== 'step' : cell.step === step);

/** Of equals the later one; of a loss the least. */
function bestBy(
  metric: string,
  evaluated: readonly { readonly id: string; readonly cells: readonly Cell[] }[],
): string | undefined {
  let best: { readonly id: string; readonly score: number } | undefined;
  for (const { id, cells } of evaluated) {
    const cell = cells.find((one) => `${one.suite}.${one.mode}.${one.metric}` === metric);
    if (cell === undefined) continue;
    const score = cell.metric === 'loss' ? -cell.value : cell.value;
    if (best === undefined || score >= best.score) best = { id, score };
  }
  return best?.id;
}
