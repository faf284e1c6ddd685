// Cascades of the tiny policy that end by distilling.
import { expandedSpec } from '../../api/contract/expand.ts';
import type { ExpandedDistillStage, ExpandedSpec } from '../../api/contract/expand.ts';
import { tinyData, tinySpec } from './tiny-policy.ts';

type DistilledDomain = ExpandedDistillStage['domains'][number];

export const distillDomain = (given: object): DistilledDomain =>
  ({ data: tinyData.math, teacher: 'best', weight: 1, ...given }) as DistilledDomain;

export interface TinyDistill {
  readonly sftSteps?: number;
  readonly mathSteps?: number;
  /** Over a stage of few, short answers. */
  readonly distill?: Record<string, unknown>;
  readonly domains?: readonly object[];
}

/** An sft stage and a math stage, as `tinySpec` has them, then one that distils; a checkpoint after every step. */
export function tinyDistillSpec({
  sftSteps = 8,
  mathSteps = 1,
  distill = {},
  domains = [{ domain: 'math' }],
}: TinyDistill = {}): ExpandedSpec {
  const spec = tinySpec({ sftSteps, mathSteps, everySteps: 1 });
  const stage = {
    kind: 'distill',
    name: 'distill',
    domain: 'distill',
    steps: 3,
    lr: 1e-3,
    warmup_steps: 0,
    prompts_per_step: 4,
    rollouts: 2,
    max_response: 6,
    domains: domains.map(distillDomain),
    ...distill,
  };
  return expandedSpec.parse({
    ...spec,
    model: { ...spec.model, thinking_control: 'flags' },
    samples: { ...spec.samples, per_step: 1000 },
    stages: [...spec.stages, stage],
  });
}
