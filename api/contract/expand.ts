// From a parsed spec to the expanded one that a runner executes: one list of stages whatever the job type, every
// name filled in, datasets by id. Pure; the row keeps the result, so a running job never sees new defaults.
import { z } from 'zod';
import type { Gate } from './gate.ts';
import type { CodeLanguage, Grader } from './grader.ts';
import { kindsCompared, kindsGradedBy } from './grader.ts';
import { datasetId, name } from './names.ts';
import { omittedOf } from './presets/expand-preset.ts';
import { languagesOf } from './proof.ts';
import { domainOf, mixingOf, sourcesOf } from './sources.ts';
import type { JobSpec } from './spec.ts';
import { cascadeSpec, model } from './spec.ts';
import { filledDomains } from './distilled.ts';
import { codeStage } from './stages/code.ts';
import { distilledDomain, distillStage, expandedTeacher } from './stages/distill.ts';
import type { DistillStage, Teacher } from './stages/distill.ts';
import { instructionStage } from './stages/instruction.ts';
import { mathStage } from './stages/math.ts';
import { domainSource, mixedStage, multiDomainStage } from './stages/multi-domain.ts';
import { languageMixing } from './stages/reinforced.ts';
import { rewardModelStage } from './stages/reward-model.ts';
import { rlhfStage } from './stages/rlhf.ts';
import { sftStage } from './stages/sft.ts';
import { sweStage } from './stages/swe.ts';
import type { Stage } from './stage.ts';
import { isDistilled, isReinforced } from './stage-kinds.ts';
import { stagesBefore, stagesOf } from './stages-of.ts';
import { suite } from './suite.ts';
import { taskKinds } from './task.ts';
import type { DatasetKind } from './task.ts';
import { expandedTuning, expandTuning } from './tuning.ts';

const named = { name, domain: name };
const ofOne = { ...named, data: datasetId };
const reinforced = { ...ofOne, language_mixing: languageMixing };
const ofMany = {
  ...named,
  domains: z.array(domainSource.extend({ data: datasetId, language_mixing: languageMixing })),
};

export const expandedStage = z.discriminatedUnion('kind', [
  sftStage.safeExtend(ofOne),
  rewardModelStage.safeExtend(ofOne),
  rlhfStage.safeExtend(reinforced),
  instructionStage.safeExtend(reinforced),
  mathStage.safeExtend(reinforced),
  codeStage.safeExtend(reinforced),
  sweStage.safeExtend(reinforced),
  multiDomainStage.safeExtend(ofMany),
  mixedStage.safeExtend(ofMany),
  distillStage.safeExtend({
    ...named,
    domains: z.array(distilledDomain.extend({ data: datasetId, teacher: expandedTeacher })),
    repairs: name.optional().describe('the stage after which a gate has to fire for this one to run'),
  }),
]);
export type ExpandedStage = z.infer<typeof expandedStage>;
export type ExpandedSftStage = Extract<ExpandedStage, { kind: 'sft' }>;
export type ExpandedRewardModelStage = Extract<ExpandedStage, { kind: 'reward_model' }>;
export type ExpandedReinforcedStage = Exclude<ExpandedStage, { kind: 'sft' | 'reward_model' | 'distill' }>;
export type ExpandedDistillStage = Extract<ExpandedStage, { kind: 'distill' }>;
export type ExpandedTeacher = ExpandedDistillStage['domains'][number]['teacher'];

const [averages, winRates, points, losses] = suite.options;
const measured = { domain: name, data: datasetId };
export const expandedSuite = z.discriminatedUnion('measure', [
  averages.safeExtend(measured),
  winRates.safeExtend(measured),
  points.safeExtend(measured),
  losses.safeExtend(measured),
]);
export type ExpandedSuite = z.infer<typeof expandedSuite>;
export type ExpandedAnsweredSuite = Exclude<ExpandedSuite, { measure: 'loss' }>;

export const expandedSpec = z
  .strictObject({
    ...cascadeSpec.shape,
    type: z.enum(['cascade', 'sft', 'distill', 'reward_model', 'evaluate']),
    model: model.safeExtend({ tuning: expandedTuning }),
    stages: z.array(expandedStage),
    omitted: z
      .array(z.strictObject({ name: z.string(), why: z.string() }))
      .optional()
      .describe('with a preset: its stages, or parts of them, that do not run'),
    evaluate: cascadeSpec.shape.evaluate.unwrap().extend({ suites: z.array(expandedSuite) }),
  })
  .meta({ id: 'ExpandedSpec' });
export type ExpandedSpec = z.infer<typeof expandedSpec>;

export interface DataReference {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly data: string;
  /** The likeliest first. */
  readonly kinds: readonly [DatasetKind, ...DatasetKind[]];
  /** What the rows’ answers are graded with, where they are. */
  readonly grader?: Grader;
}

type Placed = ReturnType<typeof stagesOf>[number];

function stageReferences({ pointer, stage }: Placed, before: readonly Stage[]): DataReference[] {
  if (isDistilled(stage)) return distilledReferences(pointer, stage, before);
  if (!isReinforced(stage)) {
    const kind = stage.kind === 'sft' ? 'sft' : 'preference';
    return [{ pointer: `${pointer}/data`, data: stage.data, kinds: [kind] }];
  }
  return sourcesOf(stage).map((source) => ({
    pointer: `${pointer}${source.pointer}/data`,
    data: source.data,
    kinds: kindsGradedBy(source.grader),
    grader: source.grader,
  }));
}

/** What a domain takes from a stage before as it is, rows and grader, is that stage's reference. */
function distilledReferences(
  pointer: string,
  stage: DistillStage,
  before: readonly Stage[],
): DataReference[] {
  const filled = filledDomains(stage, before);
  return (stage.domains ?? []).flatMap((given, index) => {
    const { data, grader } = filled[index]!;
    if (data === undefined || (given.data === undefined && given.grader === undefined)) return [];
    const kinds = grader === undefined ? taskKinds : kindsGradedBy(grader);
    return [{ pointer: `${pointer}/domains/${index}/data`, data, kinds, ...(grader && { grader }) }];
  });
}

/** Every dataset that a spec names, with where it names it and the kinds of rows that fit. */
export function dataReferences(spec: JobSpec): DataReference[] {
  const suites = spec.evaluate.suites.map((entry, index): DataReference => {
    const at = { pointer: `/evaluate/suites/${index}/data`, data: entry.data };
    if (entry.measure === 'loss') return { ...at, kinds: ['sft'] };
    const kinds = entry.measure === 'win_rate' ? kindsCompared(entry.grader) : kindsGradedBy(entry.grader);
    return { ...at, kinds, grader: entry.grader };
  });
  const stages = stagesOf(spec);
  const ofStages = stages.flatMap((one, index) => stageReferences(one, stagesBefore(stages, index)));
  return [...ofStages, ...suites];
}

export interface GraderReference {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly grader: Grader;
}

/** Every grader of a spec. */
export function graderReferences(spec: JobSpec): GraderReference[] {
  const stages = stagesOf(spec).flatMap(({ pointer, stage }): GraderReference[] => {
    if (isReinforced(stage))
      return sourcesOf(stage).map((source) => ({
        pointer: `${pointer}${source.pointer}/grader`,
        grader: source.grader,
      }));
    if (!isDistilled(stage)) return [];
    return (stage.domains ?? []).flatMap(({ grader }, index) =>
      grader === undefined ? [] : [{ pointer: `${pointer}/domains/${index}/grader`, grader }],
    );
  });
  const suites = spec.evaluate.suites.flatMap((entry, index) =>
    entry.measure === 'loss' ? [] : [{ pointer: `/evaluate/suites/${index}/grader`, grader: entry.grader }],
  );
  return [...stages, ...suites];
}

export interface RewardModelReference {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  /** A checkpoint. */
  readonly model: string;
}

/** Of one grader. */
export const rewardModelsIn = ({ pointer, grader }: GraderReference): RewardModelReference[] =>
  grader.type === 'preference' ? [{ pointer: `${pointer}/model`, model: grader.model }] : [];

/** Every checkpoint that a spec scores with, with where it names it. */
export function rewardModelReferences(spec: JobSpec): RewardModelReference[] {
  const ofInstructions = stagesOf(spec).flatMap(({ pointer, stage }) =>
    stage.kind === 'instruction' && stage.reward_model !== undefined
      ? [{ pointer: `${pointer}/reward_model`, model: stage.reward_model }]
      : [],
  );
  return [...graderReferences(spec).flatMap(rewardModelsIn), ...ofInstructions];
}

type Graded = Pick<ExpandedSpec, 'stages' | 'evaluate'>;

const sourcesOfAll = ({ stages }: Graded) => stages.filter(isReinforced).flatMap(sourcesOf);

const distilledDomainsOf = ({ stages }: Pick<Graded, 'stages'>) =>
  stages.filter(isDistilled).flatMap(({ domains }) => domains);

/** Teachers that come from outside the job, each once; those of its own stages are chosen while it runs. */
export function teachersOf(spec: Pick<Graded, 'stages'>): {
  readonly checkpoints: readonly string[];
  readonly uris: readonly string[];
} {
  const teachers = distilledDomainsOf(spec).map(({ teacher }) => teacher);
  const checkpoints = teachers.flatMap((one) =>
    typeof one === 'string' && one.startsWith('ckpt_') ? [one] : [],
  );
  const uris = teachers.flatMap((one) => (typeof one === 'string' ? [] : [one.uri]));
  return { checkpoints: [...new Set(checkpoints)], uris: [...new Set(uris)] };
}

export const isAnswered = <One extends { readonly measure: string }>(
  entry: One,
): entry is Exclude<One, { measure: 'loss' }> => entry.measure !== 'loss';

/** Of stages, then of suites. */
export const gradersOf = (spec: Graded): Grader[] => [
  ...sourcesOfAll(spec).map(({ grader }) => grader),
  ...distilledDomainsOf(spec).flatMap(({ grader }) => grader ?? []),
  ...spec.evaluate.suites.filter(isAnswered).map(({ grader }) => grader),
];

/** Code languages that a runner must have a back end for. */
export const neededLanguages = (spec: Graded): CodeLanguage[] => languagesOf(gradersOf(spec));

function dataOfStage(stage: ExpandedStage): string[] {
  if (isDistilled(stage)) return stage.domains.map(({ data }) => data);
  return isReinforced(stage) ? sourcesOf(stage).map(({ data }) => data) : [stage.data];
}

/** Datasets by id, each once. */
export const datasetsOf = (spec: Graded): string[] => [
  ...new Set([...spec.stages.flatMap(dataOfStage), ...spec.evaluate.suites.map(({ data }) => data)]),
];

/** Checkpoints whose scores its rewards take. */
export const rewardModelsOf = (spec: Graded): string[] => [
  ...new Set([
    ...gradersOf(spec).flatMap((given) => (given.type === 'preference' ? [given.model] : [])),
    ...sourcesOfAll(spec).flatMap(({ rewardModel }) => (rewardModel === undefined ? [] : [rewardModel])),
  ]),
];

/** From outside the job: what it begins with, scores with, learns from. */
export const checkpointsOf = (spec: Graded & Pick<ExpandedSpec, 'model'>): string[] => [
  ...(spec.model.init.from === 'checkpoint' ? [spec.model.init.checkpoint] : []),
  ...rewardModelsOf(spec),
  ...teachersOf(spec).checkpoints,
];

/** Of a domain, as posted: that of another job becomes a checkpoint's id. */
export type TeacherOf = (teacher: Teacher, domain: string) => Teacher;

/**
 * `idOf` maps what `data` says (id or name) to a dataset id, `teacherOf` a teacher of another job to its checkpoint; every reference
 * must have been resolved before.
 */
export function expandSpec(
  spec: JobSpec,
  idOf: ReadonlyMap<string, string>,
  teacherOf?: TeacherOf,
): ExpandedSpec {
  const dataOf = (data: string): string => {
    const id = idOf.get(data);
    if (id === undefined)
      throw new Error(`internal: dataset ${data} was not resolved before the spec was expanded`);
    return id;
  };
  return expandedSpec.parse(filledSpec(spec, dataOf, teacherOf));
}

/** What every job has beside its stages and evaluations. */
type Envelope = Omit<Extract<JobSpec, { type: 'cascade' }>, 'type' | 'stages' | 'evaluate'> &
  Pick<JobSpec, 'type'>;

/** The expanded spec with `data` as `dataOf` makes it: what there is to show before datasets have ids. */
export function filledSpec(
  spec: JobSpec,
  dataOf: (data: string) => string = (data) => data,
  teacherOf: TeacherOf = (teacher) => teacher,
) {
  const { evaluate, ...rest } = spec;
  const envelope = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !/^stages?$/.test(key)),
  ) as Envelope;
  return {
    ...envelope,
    gates: spec.type === 'cascade' ? spec.gates.map(withoutRepair) : [],
    model: { ...spec.model, tuning: expandTuning(spec.model.tuning) },
    stages: filledStages(stagesOf(spec), { dataOf, teacherOf }),
    ...omittedFrom(spec),
    evaluate: {
      ...evaluate,
      suites: evaluate.suites.map((entry) => ({
        ...entry,
        domain: entry.domain ?? entry.name,
        data: dataOf(entry.data),
      })),
    },
  };
}

/** It stands among the stages. */
const withoutRepair = ({ repair: _, ...rest }: Gate): Omit<Gate, 'repair'> => rest;

const omittedFrom = (spec: JobSpec): Pick<ExpandedSpec, 'omitted'> =>
  spec.type === 'cascade' && spec.preset !== undefined
    ? { omitted: omittedOf(spec.preset, spec.stages) }
    : {};

interface Resolution {
  readonly dataOf: (data: string) => string;
  readonly teacherOf: TeacherOf;
}

/** In the order of the run. */
function filledStages(stages: readonly Placed[], resolution: Resolution) {
  return stages.map(({ stage, repairs }, index) => {
    if (!isDistilled(stage)) return filledStage(stage, resolution);
    return filledDistillStage(stage, stagesBefore(stages, index), { ...resolution, repairs });
  });
}

/** @throws where the spec's faults have not been looked for before. */
function filledDistillStage(
  stage: DistillStage,
  before: readonly Stage[],
  { dataOf, teacherOf, repairs }: Resolution & { readonly repairs: string | undefined },
) {
  return {
    ...stage,
    name: stage.name ?? stage.kind,
    domain: domainOf(stage),
    domains: filledDomains(stage, before).map(({ data, ...domain }) => {
      if (data === undefined) throw new Error(`internal: no data of the domain ${domain.domain}`);
      return { ...domain, data: dataOf(data), teacher: teacherOf(domain.teacher, domain.domain) };
    }),
    ...(repairs === undefined ? {} : { repairs }),
  };
}

function filledStage(stage: Exclude<Placed['stage'], DistillStage>, { dataOf }: Resolution) {
  const named = { name: stage.name ?? stage.kind, domain: domainOf(stage) };
  switch (stage.kind) {
    case 'sft':
    case 'reward_model':
      return {
        ...stage,
        ...named,
        data: dataOf(stage.data),
        ...(stage.steps === undefined ? { epochs: stage.epochs ?? 1 } : {}),
      };
    case 'multi_domain':
    case 'mixed':
      return {
        ...stage,
        ...named,
        domains: stage.domains.map((source) => ({
          ...source,
          data: dataOf(source.data),
          language_mixing: source.language_mixing ?? mixingOf(source.grader),
        })),
      };
    default:
      return {
        ...stage,
        ...named,
        data: dataOf(stage.data),
        language_mixing: stage.language_mixing ?? mixingOf(stage.grader),
      };
  }
}
