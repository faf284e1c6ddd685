// Claims as a service hands them out, for attempts of the scripted trainer.
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import { expandedSpec } from '../../../api/contract/expand.ts';
import type { Claim } from '../../../api/contract/runner.ts';

export const datasetId = 'ds_00000000000000000001';
export const jobId = 'job_00000000000000000001';

/** `name` chooses what the scripted trainer does. */
export function spec(name: string, changes: Partial<ExpandedSpec> = {}): ExpandedSpec {
  const shape = { hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 1 };
  return expandedSpec.parse({
    type: 'sft',
    name,
    model: {
      init: { from: 'config', config: shape, tokenizer: { type: 'characters', alphabet: 'ab' } },
      tuning: { method: 'full' },
    },
    stages: [{ kind: 'sft', name: 'sft', domain: 'sft', data: datasetId, steps: 4 }],
    evaluate: { after: 'stage', suites: [] },
    ...changes,
  });
}

export function claim(name: string, changes: Partial<Claim> = {}): Claim {
  return {
    job: jobId,
    attempt: 1,
    spec: spec(name),
    datasets: [],
    init: null,
    resume: null,
    reward_models: [],
    teachers: [],
    passed_gates: [],
    lease_ms: 3_000,
    ...changes,
  };
}
