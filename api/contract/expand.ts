// From a parsed spec to the expanded one that a runner executes: one list of stages whatever the job type, every
// name filled in, datasets by id. Pure; the row keeps the result, so a running job never sees new defaults.
import { z } from 'zod';
import type { Grader } from './grader.ts';
import { kindsGradedBy } from './grader.ts';
import { datasetId, name } from './names.ts';
import type { JobSpec } from './spec.ts';
import { cascadeSpec, model, suite } from './spec.ts';
import type { LanguageMixing } from './stage.ts';
import { languageMixing, mathStage, sftStage } from './stage.ts';
import { stagesOf } from './stages-of.ts';
import type { DatasetKind } from './task.ts';
import { expandedTuning, expandTuning } from './tuning.ts';

const named = { name, domain: name, data: datasetId };

export const expandedStage = z.discriminatedUnion('kind', [
  sftStage.safeExtend(named),
  // Jobs that were expanded before there was such a rule go on without it.
  mathStage.extend({ ...named, language_mixing: languageMixing.default('off') }),
]);
export type ExpandedStage = z.infer<typeof expandedStage>;
export type ExpandedSftStage = Extract<ExpandedStage, { kind: 'sft' }>;
export type ExpandedMathStage = Extract<ExpandedStage, { kind: 'math' }>;

export const expandedSuite = suite.extend({ domain: name, data: datasetId });
export type ExpandedSuite = z.infer<typeof expandedSuite>;

export const expandedSpec = z
  .strictObject({
    ...cascadeSpec.shape,
    type: z.enum(['cascade', 'sft']),
    model: model.safeExtend({ tuning: expandedTuning }),
    stages: z.array(expandedStage).min(1),
    evaluate: z.strictObject({ after: z.literal('stage'), suites: z.array(expandedSuite) }),
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

/** Every dataset that a spec names, with where it names it and the kinds of rows that fit. */
export function dataReferences(spec: JobSpec): DataReference[] {
  const stages = stagesOf(spec).map(({ pointer, stage }) => ({
    pointer: `${pointer}/data`,
    data: stage.data,
    ...(stage.kind === 'sft'
      ? { kinds: ['sft'] as const }
      : { kinds: kindsGradedBy(stage.grader), grader: stage.grader }),
  }));
  const suites = spec.evaluate.suites.map((entry, index) => ({
    pointer: `/evaluate/suites/${index}/data`,
    data: entry.data,
    kinds: kindsGradedBy(entry.grader),
    grader: entry.grader,
  }));
  return [...stages, ...suites];
}

export interface GraderReference {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly grader: Grader;
}

/** Every grader of a spec. */
export function graderReferences(spec: JobSpec): GraderReference[] {
  const stages = stagesOf(spec).flatMap(({ pointer, stage }) =>
    stage.kind === 'sft' ? [] : [{ pointer: `${pointer}/grader`, grader: stage.grader }],
  );
  const suites = spec.evaluate.suites.map((entry, index) => ({
    pointer: `/evaluate/suites/${index}/grader`,
    grader: entry.grader,
  }));
  return [...stages, ...suites];
}

type Graded = Pick<ExpandedSpec, 'stages' | 'evaluate'>;

/** Of stages, then of suites. */
export const gradersOf = ({ stages, evaluate }: Graded): Grader[] => [
  ...stages.flatMap((stage) => (stage.kind === 'sft' ? [] : [stage.grader])),
  ...evaluate.suites.map((entry) => entry.grader),
];

/** Checkpoints that the graders of a spec score with, each once. */
export const rewardModelsOf = (spec: Graded): string[] => [
  ...new Set(gradersOf(spec).flatMap((given) => (given.type === 'preference' ? [given.model] : []))),
];

/** `idOf` maps what `data` says (id or name) to a dataset id; every reference must have been resolved before. */
export function expandSpec(spec: JobSpec, idOf: ReadonlyMap<string, string>): ExpandedSpec {
  return expandedSpec.parse(
    filledSpec(spec, (data) => {
      const id = idOf.get(data);
      if (id === undefined)
        throw new Error(`internal: dataset ${data} was not resolved before the spec was expanded`);
      return id;
    }),
  );
}

/**
 * The rules of Nemotron-Cascade (arXiv 2512.13607, sections 4.3-4.6), by grader, which says better than the stage's name what is
 * trained. Where it gives none there is none: instructions may ask for another language, patches are code.
 */
const mixingByGrader: Readonly<Record<string, LanguageMixing>> = {
  math: 'minus_one',
  code: 'zero',
  preference: 'batch_minimum',
};

/** What every job has beside its stages and evaluations. */
type Envelope = Omit<Extract<JobSpec, { type: 'cascade' }>, 'type' | 'stages' | 'evaluate'> &
  Pick<JobSpec, 'type'>;

/** The expanded spec with `data` as `dataOf` makes it: what there is to show before datasets have ids. */
export function filledSpec(spec: JobSpec, dataOf: (data: string) => string = (data) => data) {
  const { evaluate, ...rest } = spec;
  const envelope = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !/^stages?$/.test(key)),
  ) as Envelope;
  return {
    ...envelope,
    model: { ...spec.model, tuning: expandTuning(spec.model.tuning) },
    stages: stagesOf(spec).map(({ stage }) => ({
      ...stage,
      name: stage.name ?? stage.kind,
      domain: stage.domain ?? stage.kind,
      data: dataOf(stage.data),
      ...(stage.kind === 'sft' && stage.steps === undefined ? { epochs: stage.epochs ?? 1 } : {}),
      ...(stage.kind === 'math'
        ? { language_mixing: stage.language_mixing ?? mixingByGrader[stage.grader.type] ?? 'off' }
        : {}),
    })),
    evaluate: {
      after: evaluate.after,
      suites: evaluate.suites.map((entry) => ({
        ...entry,
        domain: entry.domain ?? entry.name,
        data: dataOf(entry.data),
      })),
    },
  };
}
