// What the graders of an attempt score with: only what its spec asks for is opened.
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { gradersOf } from '../../api/contract/expand.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import type { Scope } from '../engine/ort/scope.ts';
import type { Inputs } from '../ipc.ts';
import type { Means } from '../rewards/means.ts';
import { createMeans } from '../rewards/means.ts';
import { openSandbox } from '../rewards/sandbox/open.ts';
import { openRewardModels } from './reward-models.ts';

/** The caller closes the means; `scope` ends the reward models. Throws InvalidModel. */
export async function openMeans(
  spec: ExpandedSpec,
  runtime: Runtime,
  inputs: Inputs,
  scope: Scope,
): Promise<Means> {
  const rewardModels = await openRewardModels(runtime, inputs, scope);
  const runsCode = gradersOf(spec).some(({ type }) => type === 'code');
  return createMeans({ rewardModels, ...(runsCode ? { sandbox: await openSandbox() } : {}) });
}
