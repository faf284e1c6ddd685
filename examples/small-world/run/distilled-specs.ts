// What may follow the cascade, as specs made from it: distillation back from the best checkpoint of each domain, the same number of
// rollouts of more reinforcement in its place, and supervised steps on one domain alone, which make a model forget the others.
import { domainOf } from '../../../api/contract/sources.ts';
import type { SpecFile } from '../../../cli/submit/spec-file.ts';
import { checkedSpec } from '../../../cli/submit/spec-file.ts';
import type { Json, Seeded, WorldFiles } from './specs.ts';
import { jsonOf, withSeed } from './specs.ts';

/** Of both ways on: 100 steps of 64 rollouts a domain. */
const after = { steps: 100, temperature: 1, max_response: 48, lr: 0.0002 };

/**
 * A teacher needs no group to compare with: as many rollouts of different prompts say more (docs/distillation.md, "Settings"), and so
 * does the whole distribution at every position, which so small a vocabulary allows.
 */
const taught = {
  ...after,
  ...{ prompts_per_step: 320, rollouts: 1, warmup_steps: 5, lr_schedule: 'cosine' },
  objective: { type: 'divergence', beta: 1 },
};

const rewarded = { ...after, prompts_per_step: 40, rollouts: 8 };

/** Steps on one domain's supervised rows: enough to forget by. */
const relapseSteps = 60;

/** Graders that stages have by their kind, where the cascade leaves them out. */
const gradersByKind: Readonly<Record<string, Json>> = {
  instruction: { type: 'instructions' },
  math: { type: 'math' },
  swe: { type: 'swe' },
};

interface ReinforcedStage extends Json {
  readonly kind: string;
  readonly data: string;
  readonly mode: string;
}

interface From {
  readonly checkpoint: string;
  readonly rewardModel: string | undefined;
}

const startingFrom = ({ cascade }: WorldFiles, seeded: Seeded, { checkpoint, rewardModel }: From) => {
  const spec = withSeed(jsonOf(cascade, rewardModel), seeded);
  const model = { ...(spec['model'] as Json), init: { from: 'checkpoint', checkpoint } };
  const stages = (spec['stages'] as Json[]).filter(
    (stage): stage is ReinforcedStage => stage['kind'] !== 'sft',
  );
  return { model, stages, name: String(spec['name']), evaluate: spec['evaluate'] as Json };
};

/** `job`: the cascade, among whose ends of stages each domain's best is the teacher. */
export function distilledSpec(
  files: WorldFiles,
  seeded: Seeded,
  from: From & { readonly job: string },
): SpecFile {
  const { model, stages, name, evaluate } = startingFrom(files, seeded, from);
  const posted = {
    type: 'distill',
    name: `${name}-distilled`,
    ...seeded,
    model,
    stage: {
      kind: 'distill',
      ...taught,
      domains: stages.map(({ kind, data, mode }) => ({
        domain: domainOf({ kind }),
        ...{ data, mode },
        teacher: { from_job: from.job, take: 'best' },
      })),
    },
    evaluate,
  };
  return checkedSpec(posted, files.cascade);
}

/** The baseline: reinforcement in every domain at once. */
export function continuedSpec(files: WorldFiles, seeded: Seeded, from: From): SpecFile {
  const { model, stages, name, evaluate } = startingFrom(files, seeded, from);
  const posted = {
    type: 'cascade',
    name: `${name}-continued`,
    ...seeded,
    model,
    stages: [
      {
        kind: 'multi_domain',
        name: 'continued',
        ...rewarded,
        ...{ top_p: 1, top_k: 0, overlong: 'keep', filter: { type: 'off' } },
        domains: stages.map(({ kind, data, mode, grader }) => ({
          domain: domainOf({ kind }),
          ...{ data, mode, language_mixing: 'off' },
          grader: grader ?? gradersByKind[kind],
        })),
      },
    ],
    evaluate,
  };
  return checkedSpec(posted, files.cascade);
}

/** `data`: rows of one domain. */
export function relapsedSpec(
  files: WorldFiles,
  seeded: Seeded,
  from: From & { readonly data: string },
): SpecFile {
  const { model, name } = startingFrom(files, seeded, from);
  const stage = {
    kind: 'sft',
    ...{ data: `file:${from.data}`, batch: 64, steps: relapseSteps, lr: 0.0005, max_length: 128 },
    optimizer: { weight_decay: 0 },
  };
  return checkedSpec({ type: 'sft', name: `${name}-relapsed`, ...seeded, model, stage }, files.cascade);
}
