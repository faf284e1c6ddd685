// Job specs as posted. Unknown fields are refused; every default is written here or in stages/, so that the
// expanded spec kept with the job is `jobSpec.parse(posted)` with names filled in (expand.ts).
import { z } from 'zod';
import { distilledFaults } from './distilled.ts';
import { pathOf } from './fault.ts';
import type { Fault, Path } from './fault.ts';
import { bonusFaults, coverageFaults, filterFaults, suiteFaults } from './fit-faults.ts';
import { gate, metricPath } from './gate.ts';
import { bestFaults, gateFaults, repairFaults } from './gate-faults.ts';
import { modelShape } from './model-shape.ts';
import { modeFaults } from './modes.ts';
import { accelerator, checkpointId, duration, jobId, labels, name } from './names.ts';
import { expandPreset } from './presets/expand-preset.ts';
import { presetNames } from './presets/presets.ts';
import { isDistilled } from './stage-kinds.ts';
import { stage } from './stage.ts';
import { count } from './stages/common.ts';
import type { Rule } from './stages/common.ts';
import { distillStage } from './stages/distill.ts';
import { rewardModelStage } from './stages/reward-model.ts';
import { sftStage } from './stages/sft.ts';
import { cascadeStages, inOrder, stagesBefore } from './stages-of.ts';
import type { CascadeStages } from './stages-of.ts';
import { suite } from './suite.ts';
import type { Suite } from './suite.ts';
import { moduleOfLesserRank, tuning } from './tuning.ts';

export const SPEC_VERSION = 1;

export const tokenizerSource = z.union([
  z.strictObject({ uri: z.string().min(1).describe('directory with tokenizer.json') }),
  z.strictObject({
    type: z.literal('characters'),
    alphabet: z
      .string()
      .min(1)
      .max(4096)
      .refine((text) => new Set(text).size === [...text].length, 'a character stands twice in the alphabet'),
  }),
]);

/** hf: a directory in Hugging Face layout (mounted path, file: or s3: URI). checkpoint: one of ours. config: random weights. */
export const modelInit = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('hf'), uri: z.string().min(1) }),
  z.strictObject({ from: z.literal('checkpoint'), checkpoint: checkpointId }),
  z.strictObject({ from: z.literal('config'), config: modelShape, tokenizer: tokenizerSource }),
]);

/**
 * template: the chat template's switch and the empty think block; flags: " /think" and " /no_think" on user turns
 * (Nemotron-Cascade 1, section 3.1.2); none: the model has one mode.
 */
export const thinkingControl = z
  .enum(['template', 'flags', 'none'])
  .describe('how a prompt asks for a mode; default: what the chat template offers');
export type ThinkingControl = z.infer<typeof thinkingControl>;

/** Of models whose shape the spec does not say, the runner checks the rank before the first step. */
export const model = z
  .strictObject({ init: modelInit, tuning, thinking_control: thinkingControl.optional() })
  .superRefine((given, context) => {
    if (given.init.from !== 'config') return;
    const tooSmall = moduleOfLesserRank(given.tuning, given.init.config);
    if (tooSmall !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['tuning', 'rank'],
        message: `must be at most ${tooSmall.most}: ${tooSmall.module} of this model is a matrix of that rank`,
      });
  });

const refuse = (faults: readonly Fault[], context: z.RefinementCtx): void => {
  for (const { path, message } of faults) context.addIssue({ code: 'custom', message, path: [...path] });
};

const placed = (path: Path, faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));

const checkpointPolicy = z
  .strictObject({
    every_steps: count.default(50),
    keep_last: count
      .optional()
      .describe(
        'of the checkpoints of steps the newest so many stay; default: all. Ends of stages stay, as does what somebody refers to',
      ),
    keep_best: z
      .strictObject({ metric: metricPath })
      .optional()
      .describe('with keep_last: the one that is best by this stays as well'),
  })
  .refine(({ keep_last, keep_best }) => keep_best === undefined || keep_last !== undefined, {
    error: 'goes with keep_last, without which every checkpoint stays',
    path: ['keep_best'],
  });

const envelope = {
  name: name.optional(),
  seed: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  model,
  evaluate: z
    .strictObject({
      after: z.literal('stage').default('stage').describe('before the first stage and after every stage'),
      every_steps: count.optional().describe('within stages, too'),
      suites: z
        .array(suite)
        .default([])
        .superRefine((suites, context) => refuse(suiteFaults(suites), context)),
    })
    .prefault({}),
  checkpoints: checkpointPolicy.prefault({}),
  samples: z.strictObject({ per_step: z.number().int().min(0).max(1024).default(8) }).prefault({}),
  resources: z
    .strictObject({
      accelerator: accelerator.default('cpu'),
      min_memory_gb: z
        .number()
        .min(0)
        .default(0)
        .describe('accelerator memory, RAM for cpu; 10^9 bytes. What the model takes is asked for anyway'),
      runner_labels: labels.default({}),
    })
    .prefault({}),
  labels: labels.default({}),
  priority: z
    .number()
    .int()
    .min(-100)
    .max(100)
    .default(0)
    .describe('higher first: a step is worth an hour of waiting'),
  needs: z
    .array(jobId)
    .max(100)
    .optional()
    .describe('jobs of the project that must have succeeded before it runs; if one ends otherwise, it fails'),
  max_attempts: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(3)
    .describe('consecutive attempts without a new checkpoint'),
  stall_timeout: duration.default('15m'),
  timeout: duration.optional().describe('of running, over all attempts; the job fails then'),
  rewards: z
    .strictObject({
      unscored_at_most: z
        .number()
        .min(0)
        .lt(1)
        .default(0.1)
        .describe('share of a batch that may stay unscored by our fault; above it the trainer waits'),
      timeout: duration.default('30m').describe('how long the trainer waits for graders to come back'),
      otherwise: z.enum(['pause', 'fail']).default('pause').describe('what becomes of the job then'),
    })
    .prefault({}),
};

const unique = (names: readonly string[]) => new Set(names).size === names.length;

interface Kept {
  readonly checkpoints: z.infer<typeof checkpointPolicy>;
  readonly evaluate: { readonly suites: readonly Suite[] };
}

const bestIsMeasured = (spec: Kept, context: z.RefinementCtx): void =>
  refuse(bestFaults(spec.checkpoints.keep_best?.metric, spec.evaluate.suites), context);

const suiteNames: Rule<{ evaluate: { suites: { name: string }[] } }> = [
  ({ evaluate }) => unique(evaluate.suites.map((entry) => entry.name)),
  { error: 'suite names must be unique', path: ['evaluate', 'suites'] },
];

export const cascadeSpec = z
  .strictObject({
    type: z.literal('cascade'),
    ...envelope,
    preset: z
      .enum(presetNames)
      .optional()
      .describe(
        'a published cascade, expanded first: each of stages then names one of its stages by `name` and gives what the preset cannot ' +
          'know (data; graders and reward models where it needs them). `kind` and the published values may be left out; what is posted ' +
          'wins, objects merge, arrays replace. The order is the preset’s; its stages that are not posted are listed as omitted',
      ),
    stages: z.array(stage).min(1).max(100),
    gates: z.array(gate).max(100).default([]),
  })
  .refine((spec) => unique(spec.stages.map((entry) => entry.name ?? entry.kind)), {
    error: 'stage names must be unique: give stages of one kind a name each',
    path: ['stages'],
  })
  .refine(...suiteNames)
  .superRefine(bestIsMeasured)
  .superRefine((spec, context) => {
    const stages = spec.stages.map((part, index) => ({ path: ['stages', index], part }));
    const fits = stages.flatMap(({ path, part }) =>
      [...filterFaults(part), ...bonusFaults(part), ...coverageFaults(part, spec.evaluate.suites)].map(
        (fault) => ({ ...fault, path: [...path, ...fault.path] }),
      ),
    );
    refuse(
      [
        ...modeFaults(spec, [...stages, ...repairs(spec)]),
        ...fits,
        ...gateFaults({ ...spec, stages: inOrder(spec) }),
        ...repairFaults(spec),
        ...distillFaults(spec),
      ],
      context,
    );
  });

function repairs({ gates }: CascadeStages) {
  return gates.flatMap(({ repair }, index) =>
    repair === undefined ? [] : [{ path: ['gates', index, 'repair'], part: repair }],
  );
}

/** Of stages that distil, repairs among them. */
function distillFaults(
  spec: CascadeStages & { readonly evaluate: { readonly suites: readonly Suite[] } },
): Fault[] {
  const stages = cascadeStages(spec);
  return stages.flatMap(({ pointer, stage }, index) => {
    if (!isDistilled(stage)) return [];
    const context = { before: stagesBefore(stages, index), suites: spec.evaluate.suites };
    return placed(pathOf(pointer), distilledFaults(stage, context));
  });
}

export const sftSpec = z
  .strictObject({ type: z.literal('sft'), ...envelope, stage: sftStage })
  .refine(...suiteNames)
  .superRefine(bestIsMeasured)
  .superRefine((spec, context) => {
    refuse(modeFaults(spec, [{ path: ['stage'], part: spec.stage }]), context);
  });

/** Teachers are of other jobs, or from outside: there are no stages before it. */
export const distillSpec = z
  .strictObject({ type: z.literal('distill'), ...envelope, stage: distillStage })
  .refine(...suiteNames)
  .superRefine(bestIsMeasured)
  .superRefine((spec, context) => {
    refuse(
      [
        ...modeFaults(spec, [{ path: ['stage'], part: spec.stage }]),
        ...placed(['stage'], distilledFaults(spec.stage, { before: [], suites: spec.evaluate.suites })),
      ],
      context,
    );
  });

/** Its evaluation is its own: accuracy, margin and correlation with length on pairs that are held out. */
export const rewardModelSpec = z
  .strictObject({ type: z.literal('reward_model'), ...envelope, stage: rewardModelStage })
  .refine(({ evaluate }) => evaluate.suites.length === 0, {
    error: 'a reward model answers nothing: it is measured on the pairs that its stage holds out',
    path: ['evaluate', 'suites'],
  })
  .refine(({ model }) => model.tuning.method === 'full', {
    error: 'a scalar head is trained with the whole model: tune it in full',
    path: ['model', 'tuning'],
  });

/** Suites and nothing else: a checkpoint, or any model, as it is. */
export const evaluateSpec = z
  .strictObject({ type: z.literal('evaluate'), ...envelope })
  .refine(({ evaluate }) => evaluate.suites.length > 0, {
    error: 'give at least one suite',
    path: ['evaluate', 'suites'],
  })
  .refine(...suiteNames)
  .superRefine(bestIsMeasured)
  .superRefine((spec, context) => {
    refuse(modeFaults(spec, []), context);
  });

/** Without gaps: what a preset gives stands in its stages. */
const wholeSpec = z.discriminatedUnion('type', [
  cascadeSpec,
  sftSpec,
  distillSpec,
  rewardModelSpec,
  evaluateSpec,
]);

export const jobSpec = z
  .preprocess((posted, context) => {
    const { spec, faults } = expandPreset(posted);
    refuse(faults, context);
    return spec;
  }, wholeSpec)
  .meta({ id: 'JobSpec' });

/** As a client posts it. */
export type JobSpecInput = z.input<typeof wholeSpec>;
type CascadeInput = Extract<JobSpecInput, { type: 'cascade' }>;
/** The same with a preset: what a stage says of a field stands over what the preset's stage of its name says. */
export type PresetSpecInput = Omit<CascadeInput, 'stages' | 'preset'> & {
  preset: NonNullable<CascadeInput['preset']>;
  stages: ({ name: string } & Record<string, unknown>)[];
};
/** With every default filled in; `data` may still be a name. */
export type JobSpec = z.infer<typeof jobSpec>;
