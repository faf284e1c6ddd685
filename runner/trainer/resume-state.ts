// What a checkpoint holds beside the model: where the run stands, the optimizer's moments and, within a stage that is held to one,
// its reference. Rows, draws and learning rates follow from the step's number, so nothing else has to be kept.
import { z } from 'zod';
import type { StoredCheckpoint } from '../checkpoint/read.ts';
import { CheckpointCorrupt } from '../checkpoint/error.ts';
import type { Learner } from '../engine/learner/learner.ts';
import { mergeAdapters } from '../engine/models/merge-adapters.ts';
import { evaluated } from '../cascade/point.ts';
import type { Carried, Point, PointKind, Resumed } from '../cascade/point.ts';
import type { SnapshotContents } from '../checkpoint/snapshot.ts';
import { InvalidModel } from './load-model.ts';
import type { TunedPart } from './open-policy.ts';

const resumeState = z.object({
  stage_index: z.number().int(),
  step: z.number().int(),
  optimizer_steps: z.number().int(),
  loss_scale: z.object({ scale: z.number(), goodSteps: z.number().int() }).optional(),
  base_sha256: z.string().optional(),
  stage: z.unknown().optional(),
  evaluations: z.array(evaluated).default([]),
});

const FIRST = 'first_moment';
const SECOND = 'second_moment';

interface Kept {
  readonly learner: Learner;
  readonly files: SnapshotContents['modelFiles'];
  readonly tuning: TunedPart | undefined;
}

/** On the cpu live views of the learner's arenas: they must be written before the next step. */
export async function snapshotContents(
  { learner, files, tuning }: Kept,
  point: Point,
  kind: PointKind,
  carried: Carried,
): Promise<SnapshotContents> {
  const { firstMoment, secondMoment, stepCount, lossScale } = await learner.state();
  // Fields in the schema's order, whether a run has made them itself or read them from a checkpoint: the same bytes.
  const state = resumeState.parse({
    stage_index: point.stageIndex,
    step: point.step,
    optimizer_steps: stepCount,
    ...(lossScale && { loss_scale: lossScale }),
    ...(tuning && { base_sha256: tuning.baseSha256 }),
    stage: carried.stage.state,
    evaluations: [...carried.evaluations],
  } satisfies z.input<typeof resumeState>);
  const moments = new Map([
    [FIRST, { shape: [firstMoment.length], data: firstMoment }],
    [SECOND, { shape: [secondMoment.length], data: secondMoment }],
  ]);
  // The next stage has a reference of its own.
  const reference = kind === 'step' ? carried.stage.reference : undefined;
  return { ...(await modelContents(learner, tuning, kind)), modelFiles: files, moments, reference, state };
}

/**
 * The weights or, where adapters alone are trained, these; at the end of a stage the merged model too, which runs by itself
 * and starts other jobs.
 */
async function modelContents(
  learner: Learner,
  tuning: TunedPart | undefined,
  kind: PointKind,
): Promise<Pick<SnapshotContents, 'weights' | 'adapter'>> {
  const weights = await learner.namedWeights();
  if (tuning === undefined) return { weights };
  const tensors = (await learner.namedAdapters())!;
  const adapter = { config: tuning.config, tensors };
  if (kind === 'step') return { adapter };
  return { adapter, weights: mergeAdapters(learner.config, tuning.lora, weights, tensors) };
}

/** Puts moments back (weights and adapters came with the model) and says where to go on. */
export async function restore(
  learner: Learner,
  checkpoint: StoredCheckpoint,
  tuning: TunedPart | undefined,
): Promise<Resumed> {
  const parsed = resumeState.safeParse(await checkpoint.state());
  if (!parsed.success)
    throw new CheckpointCorrupt(`${checkpoint.dir}: trainer/state.json: ${z.prettifyError(parsed.error)}`);
  if (tuning !== undefined && parsed.data.base_sha256 !== tuning.baseSha256)
    throw new InvalidModel(
      `the model that the job starts from (${tuning.config.base ?? 'random weights'}) is no longer the one that its adapters were trained on: put it back, or start a new job`,
    );
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
    lossScale: parsed.data.loss_scale,
  });
  const { stage_index: stageIndex, step, stage: state, evaluations } = parsed.data;
  const reference = await checkpoint.reference();
  return {
    stageIndex,
    step,
    kind: checkpoint.manifest.kind,
    carried: { stage: { state, reference }, evaluations },
  };
}
