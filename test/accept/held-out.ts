// The held-out tasks of the small world, answered by checkpoints of a run: a job each, found again where it is done already.
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { EvaluationCell } from '../../api/contract/event.ts';
import type { Run } from '../../examples/small-world/run/jobs.ts';
import { seededOf, succeeded } from '../../examples/small-world/run/jobs.ts';
import { heldOutSpec } from '../../examples/small-world/run/specs.ts';

/** Checkpoints at the ends of a job's stages, in their order. */
export async function stageEnds({ client }: Run, job: string): Promise<Checkpoint[]> {
  const ends = new Map<number, Checkpoint>();
  for await (const checkpoint of client.all((query) => client.checkpoints(job, query)))
    if (checkpoint.kind !== 'step' && !ends.has(checkpoint.stage_index))
      ends.set(checkpoint.stage_index, checkpoint);
  return [...ends.values()].sort((a, b) => a.stage_index - b.stage_index);
}

/** Of every suite and mode, with the values of single tasks; `part` names what is measured within the run. */
export async function heldOutCells(
  run: Run,
  part: string,
  checkpoint: string,
  rewardModel: string | undefined,
): Promise<readonly EvaluationCell[]> {
  const seeded = seededOf(run, `held-out.${part}`);
  const job = await succeeded(run, seeded.labels, () =>
    heldOutSpec(run.world, seeded, checkpoint, rewardModel),
  );
  const { data } = await run.client.evaluations(job, { values: true });
  if (data.length === 0) throw new Error(`${job} ended without an evaluation`);
  return data;
}
