// The jobs of the small world as specs: what the files say, with a seed, and with the checkpoints that only a run knows. The held-out
// evaluation is made from the suites of the cascade, so that it measures the same in the same way on tasks that nothing was tuned on.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SpecFile } from '../../../cli/submit/spec-file.ts';
import { checkedSpec } from '../../../cli/submit/spec-file.ts';
import { UserError } from '../../../cli/user-error.ts';

/** Where a spec names the reward model that the run trains first. */
const unknownCheckpoint = `ckpt_${'0'.repeat(24)}`;

/** Samples of a held-out task. */
const heldOutSamples = 8;

export interface WorldFiles {
  /** The cascade. */
  readonly cascade: string;
  /** The job before it. */
  readonly rewardModel: string;
}

export interface Seeded {
  readonly seed: number;
  readonly labels: Readonly<Record<string, string>>;
}

export type Json = Record<string, unknown>;

const examples = resolve(import.meta.dirname, '../..');

/** Those of the repository, or another cascade of the same world. */
export const worldFiles = (cascade = join(examples, 'small-world.json')): WorldFiles => ({
  cascade: resolve(cascade),
  rewardModel: resolve(cascade.replace(/\.json$/, '-rewards.json')),
});

/** Whether the cascade scores with a reward model that is to be trained first. */
export const wantsRewardModel = ({ cascade }: WorldFiles): boolean =>
  readFileSync(cascade, 'utf8').includes(unknownCheckpoint);

/** `backbone`: the checkpoint that it begins with, where its spec names none. */
export function rewardModelSpec({ rewardModel }: WorldFiles, seeded: Seeded, backbone?: string): SpecFile {
  if (!existsSync(rewardModel))
    throw new UserError(`there is no ${rewardModel}, the job that trains the reward model of the cascade`);
  return checkedSpec(withSeed(jsonOf(rewardModel, backbone), seeded), rewardModel);
}

export const wantsBackbone = ({ rewardModel }: WorldFiles): boolean =>
  existsSync(rewardModel) && readFileSync(rewardModel, 'utf8').includes(unknownCheckpoint);

/** The cascade's first stage as a job of its own: what it ends with is the backbone of the reward model. */
export function backboneSpec({ cascade }: WorldFiles, seeded: Seeded): SpecFile {
  const { name, model, stages } = jsonOf(cascade);
  const [stage] = stages as Json[];
  return checkedSpec({ type: 'sft', name: `${String(name)}-backbone`, ...seeded, model, stage }, cascade);
}

export const cascadeSpec = ({ cascade }: WorldFiles, seeded: Seeded, rewardModel?: string): SpecFile =>
  checkedSpec(withSeed(jsonOf(cascade, rewardModel), seeded), cascade);

/** Every suite of the cascade on held-out rows, of one checkpoint, eight samples a task. */
export function heldOutSpec(
  { cascade }: WorldFiles,
  seeded: Seeded,
  checkpoint: string,
  rewardModel?: string,
): SpecFile {
  const { name, model, evaluate } = withSeed(jsonOf(cascade, rewardModel), seeded);
  const { suites } = evaluate as { suites: Json[] };
  const posted = {
    type: 'evaluate',
    name: `${String(name)}-held-out`,
    ...seeded,
    model: { ...(model as Json), init: { from: 'checkpoint', checkpoint } },
    evaluate: { suites: suites.filter(isAverage).map(heldOut) },
  };
  return checkedSpec(posted, cascade);
}

const isAverage = ({ measure }: Json): boolean => measure === undefined || measure === 'average';

function heldOut(suite: Json): Json {
  const data = String(suite['data']);
  const held = data.replace(/-eval\.jsonl$/, '-heldout.jsonl');
  if (held === data) throw new UserError(`suite ${String(suite['name'])}: ${data} is no -eval.jsonl file`);
  return { ...suite, data: held, k: heldOutSamples };
}

export const withSeed = (spec: Json, { seed, labels }: Seeded): Json => ({ ...spec, seed, labels });

export const jsonOf = (path: string, rewardModel = unknownCheckpoint): Json =>
  JSON.parse(readFileSync(path, 'utf8').replaceAll(unknownCheckpoint, rewardModel)) as Json;
