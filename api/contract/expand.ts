// From a parsed spec to the expanded one that a runner executes: one list of stages whatever the job type, every
// name filled in, datasets by id. Pure; the row keeps the result, so a running job never sees new defaults.
import { z } from 'zod';
import type { Grader } from './grader.ts';
import { gradedKinds } from './grader.ts';
import { datasetId, name } from './names.ts';
import type { JobSpec } from './spec.ts';
import { cascadeSpec, model, suite } from './spec.ts';
import { mathStage, sftStage } from './stage.ts';
import { stagesOf } from './stages-of.ts';
import type { DatasetKind } from './task.ts';
import { expandedTuning, expandTuning } from './tuning.ts';

const named = { name, domain: name, data: datasetId };

export const expandedStage = z.discriminatedUnion('kind', [
  sftStage.safeExtend(named),
  mathStage.extend(named),
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
      : { kinds: gradedKinds[stage.grader.type], grader: stage.grader }),
  }));
  const suites = spec.evaluate.suites.map((entry, index) => ({
    pointer: `/evaluate/suites/${index}/data`,
    data: entry.data,
    kinds: gradedKinds[entry.grader.type],
    grader: entry.grader,
  }));
  return [...stages, ...suites];
}

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
