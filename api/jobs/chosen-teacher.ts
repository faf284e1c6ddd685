// A teacher that is taken from another job: which of its committed ends of stages, by its own evaluations. Chosen once, when the job is
// posted: what that job learns later changes nothing.
import { listStageEnds } from '../../db/checkpoints/stage-ends.ts';
import type { Database } from '../../db/connect.ts';
import { listEvaluations } from '../../db/evaluations/list.ts';
import { getJob } from '../../db/jobs/get.ts';
import type { CheckpointRow, EvaluationRow, JobRow } from '../../db/schema.ts';
import type { Issue } from '../contract/issues.ts';
import { strongestIn } from '../contract/strongest.ts';
import type { TeacherReference } from '../contract/teachers.ts';

export type OfJob = Extract<TeacherReference['teacher'], { from_job: string }>;

export type Chosen = { readonly row: CheckpointRow } | { readonly issue: Issue };

export async function chosenTeacher(
  db: Database,
  projectId: string,
  { pointer, domain, teacher }: TeacherReference & { readonly teacher: OfJob },
): Promise<Chosen> {
  const { from_job, take } = teacher;
  const job = await getJob(db, projectId, from_job);
  if (job === undefined)
    return { issue: { pointer: `${pointer}/from_job`, message: `there is no job ${from_job}` } };
  const ends = await listStageEnds(db, projectId, from_job);
  const found =
    take === 'best'
      ? bestEnd(domain, job, ends, await listEvaluations(db, from_job))
      : namedEnd(take.slice('stage:'.length), job, ends);
  if (typeof found === 'string')
    return { issue: { pointer: `${pointer}/take`, message: `job ${from_job} ${found}` } };
  return { row: found };
}

/** Or why there is none, to follow the job's id. */
function namedEnd(
  name: string,
  { expanded }: JobRow,
  ends: readonly CheckpointRow[],
): CheckpointRow | string {
  const names = expanded.stages.map((stage) => stage.name);
  if (!names.includes(name))
    return `has no stage named ${name}: ${names.length === 0 ? 'it has none at all' : names.join(', ')}`;
  return (
    ends.find(({ stage }) => stage === name) ??
    `has not committed the end of stage ${name}: wait for it, or name another`
  );
}

function bestEnd(
  domain: string,
  { expanded }: JobRow,
  ends: readonly CheckpointRow[],
  cells: readonly EvaluationRow[],
): CheckpointRow | string {
  const { suites } = expanded.evaluate;
  const measured = [...new Set(suites.map((suite) => suite.domain))];
  if (!measured.includes(domain))
    return `has no suite that measures ${domain}, by which best is chosen (it measures ${measured.join(', ') || 'nothing'}): take "stage:NAME"`;
  const evaluated = ends.map((row) => ({
    row,
    cells: cells.filter(({ after, step }) => after === row.stage && step === null),
  }));
  const best = strongestIn(domain, evaluated);
  return (
    best?.end.row ??
    `has no committed end of a stage that is evaluated in ${domain}: wait for one, or take "stage:NAME"`
  );
}
