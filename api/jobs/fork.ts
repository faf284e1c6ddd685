// A fork: the spec of a job with other stages after one of its own, and other settings. What was run stays as it was run.
import { listStageEnds } from '../../db/checkpoints/stage-ends.ts';
import type { Database } from '../../db/connect.ts';
import type { CheckpointRow, JobRow } from '../../db/schema.ts';
import type { ExpandedSpec } from '../contract/expand.ts';
import { issuesOf } from '../contract/issues.ts';
import type { ForkRequest } from '../contract/job.ts';
import type { JobSpec, JobSpecInput } from '../contract/spec.ts';
import { jobSpec } from '../contract/spec.ts';
import { inWords, ProblemError } from '../problem.ts';
import { mergePatch } from './merge-patch.ts';

/** What is learnt so far depends on them, or lies in the checkpoint. */
const settled = ['type', 'preset', 'model', 'stages', 'stage'] as const;

/** @throws ProblemError invalid_spec where the job has no such stage. */
export function stageIndexOf({ id, expanded }: JobRow, stage: string): number {
  const names = expanded.stages.map(({ name }) => name);
  const index = names.indexOf(stage);
  if (index < 0) refuse('/stage', `job ${id} has no stage ${stage}: ${names.join(', ') || 'it has none'}`);
  return index;
}

/** @throws ProblemError conflict where it has not been committed. */
export async function endOf(
  db: Database,
  { id, projectId, expanded }: JobRow,
  index: number,
): Promise<CheckpointRow> {
  const end = (await listStageEnds(db, projectId, id)).find(({ stageIndex }) => stageIndex === index);
  if (end === undefined)
    throw new ProblemError(
      'conflict',
      `job ${id} has not committed the end of stage ${expanded.stages[index]!.name}: wait for it`,
    );
  return end;
}

/** The spec of the fork, as it might have been posted. @throws ProblemError invalid_spec. */
export function forkedSpec(
  of: JobRow,
  index: number,
  { stages, spec = {} }: ForkRequest,
): { spec: JobSpec; asPosted: JobSpecInput } {
  for (const key of settled)
    if (key in spec)
      refuse(`/spec/${key}`, `a fork keeps the ${key} of its job: post a new one to change it`);
  const patched = mergePatch(of.spec, spec) as JobSpecInput;
  const asPosted = stages === undefined ? patched : withStages(of, index, patched, stages);
  const parsed = jobSpec.safeParse(asPosted);
  if (parsed.success) return { spec: parsed.data, asPosted };
  const issues = issuesOf(parsed.error);
  throw new ProblemError('invalid_spec', inWords(issues, 'the spec that the fork comes to'), { issues });
}

function withStages(
  { expanded }: JobRow,
  index: number,
  posted: JobSpecInput,
  stages: readonly unknown[],
): JobSpecInput {
  const at = expanded.stages[index]!;
  // A repair is posted with the gate that asks for it.
  const last = at.kind === 'distill' && at.repairs !== undefined ? at.repairs : at.name;
  if (!('stages' in posted))
    return refuse(
      '/stages',
      `a job of type ${posted.type} has one stage: post one that begins from its checkpoint`,
    );
  const kept = posted.stages.findIndex((stage) => (stage.name ?? stage.kind) === last) + 1;
  return { ...posted, stages: [...posted.stages.slice(0, kept), ...stages] } as JobSpecInput;
}

/** @throws ProblemError invalid_spec where something other than the end of the stages would differ. */
export function overWhatWasRun(of: JobRow, index: number, expanded: ExpandedSpec): ExpandedSpec {
  const run = of.expanded.stages.slice(0, index + 1);
  run.forEach(({ name }, place) => {
    if (expanded.stages[place]?.name !== name)
      refuse(
        '/spec/gates',
        `stage ${name} would no longer be number ${place}: a fork keeps the stages that were run`,
      );
  });
  if (expanded.stages.length === run.length)
    refuse('/stages', `nothing follows stage ${run.at(-1)!.name}: say what is to be learnt next`);
  return { ...expanded, stages: [...run, ...expanded.stages.slice(run.length)] };
}

/** Gates whose pause somebody has ended, of the stages that were run. */
export function gatesPassed({ expanded, passedGates }: JobRow, index: number): number[] {
  const run = expanded.stages.slice(0, index + 1).map(({ name }) => name);
  return passedGates.filter((gate) => run.includes(expanded.gates?.[gate]?.after ?? ''));
}

function refuse(pointer: string, message: string): never {
  throw new ProblemError('invalid_spec', `${pointer}: ${message}`, { issues: [{ pointer, message }] });
}
