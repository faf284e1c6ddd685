// What a checkpoint holds beside the model: where the run stands, and the optimizer's moments. Rows, draws and learning
// rates follow from the step's number, so nothing else has to be kept.
import { z } from 'zod';
import type { StoredCheckpoint } from '../checkpoint/read.ts';
import { CheckpointCorrupt } from '../checkpoint/error.ts';
import type { Learner } from '../engine/learner/learner.ts';
import type { Point } from '../cascade/run.ts';
import type { SnapshotContents } from '../checkpoint/snapshot.ts';
import type { LoadedModel } from './load-model.ts';

const resumeState = z.object({
  stage_index: z.number().int(),
  step: z.number().int(),
  optimizer_steps: z.number().int(),
});

const FIRST = 'first_moment';
const SECOND = 'second_moment';

/** On the cpu live views of the learner's arenas: they must be written before the next step. */
export async function snapshotContents(
  learner: Learner,
  files: LoadedModel['files'],
  point: Point,
): Promise<SnapshotContents> {
  const { firstMoment, secondMoment, stepCount } = await learner.state();
  const state: z.infer<typeof resumeState> = {
    stage_index: point.stageIndex,
    step: point.step,
    optimizer_steps: stepCount,
  };
  const moments = new Map([
    [FIRST, { shape: [firstMoment.length], data: firstMoment }],
    [SECOND, { shape: [secondMoment.length], data: secondMoment }],
  ]);
  return { weights: await learner.namedWeights(), modelFiles: files, moments, state };
}

/** Puts moments back (the weights came with the model) and says where to go on. */
export async function restore(learner: Learner, checkpoint: StoredCheckpoint): Promise<Point> {
  const parsed = resumeState.safeParse(await checkpoint.state());
  if (!parsed.success)
    throw new CheckpointCorrupt(`${checkpoint.dir}: trainer/state.json: ${z.prettifyError(parsed.error)}`);
  const moments = await checkpoint.moments();
  const moment = (name: string): Float32Array<ArrayBuffer> => {
    const data = moments?.get(name)?.data;
    if (data === undefined)
      throw new CheckpointCorrupt(`${checkpoint.dir}: trainer/moments.safetensors lacks ${name}`);
    return data as Float32Array<ArrayBuffer>;
  };
  await learner.restore({
    firstMoment: moment(FIRST),
    secondMoment: moment(SECOND),
    stepCount: parsed.data.optimizer_steps,
  });
  return { stageIndex: parsed.data.stage_index, step: parsed.data.step };
}
