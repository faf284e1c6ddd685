// From a parsed spec to the expanded one that a runner executes: one list of stages whatever the job type, every
// name filled in, datasets by id. Pure; the row keeps the result, so a running job never sees new defaults.
import { z } from 'zod';
import { datasetId, name } from './names.ts';
import type { JobSpec } from './spec.ts';
import { cascadeSpec, model, suite } from './spec.ts';
import { mathStage, sftStage } from './stage.ts';
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
  readonly kind: 'sft' | 'math';
}

/** Every dataset that a spec names, with where it names it and the kind of rows it must have. */
export function dataReferences(spec: JobSpec): DataReference[] {
  const stages =
    spec.type === 'cascade'
      ? spec.stages.map((stage, index) => ({
          pointer: `/stages/${index}/data`,
          data: stage.data,
          kind: stage.kind,
        }))
      : [{ pointer: '/stage/data', data: spec.stage.data, kind: spec.stage.kind }];
  const suites = spec.evaluate.suites.map((entry, index) => ({
    pointer: `/evaluate/suites/${index}/data`,
    data: entry.data,
    kind: 'math' as const,
  }));
  return [...stages, ...suites];
}

/** `idOf` maps what `data` says (id or name) to a dataset id; every reference must have been resolved before. */
export function expandSpec(spec: JobSpec, idOf: ReadonlyMap<string, string>): ExpandedSpec {
  const resolve = (data: string): string => {
    const id = idOf.get(data);
    if (id === undefined)
      throw new Error(`internal: dataset ${data} was not resolved before the spec was expanded`);
    return id;
  };
  const { evaluate, model, ...envelope } = spec;
  const stages = spec.type === 'cascade' ? spec.stages : [spec.stage];
  return expandedSpec.parse({
    ...Object.fromEntries(Object.entries(envelope).filter(([key]) => key !== 'stage')),
    model: { ...model, tuning: expandTuning(model.tuning) },
    stages: stages.map((stage) => ({
      ...stage,
      name: stage.name ?? stage.kind,
      domain: stage.domain ?? stage.kind,
      data: resolve(stage.data),
      ...(stage.kind === 'sft' && stage.steps === undefined ? { epochs: stage.epochs ?? 1 } : {}),
    })),
    evaluate: {
      after: evaluate.after,
      suites: evaluate.suites.map((entry) => ({
        ...entry,
        domain: entry.domain ?? entry.name,
        data: resolve(entry.data),
      })),
    },
  });
}
