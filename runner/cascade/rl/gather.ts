// The first half of a step: which tasks, their rollouts by the policy as it stands, and what these are worth.
import type { Phase } from '../../../api/contract/stages/phase.ts';
import { batchOf } from '../../data/order.ts';
import { drawKey } from '../../engine/random/draws.ts';
import { gradeGroups } from '../grading.ts';
import { sampleGroups, truncationOf } from '../rollout.ts';
import type { GradedGroup } from './group.ts';
import type { ReinforceOptions } from './reinforce.ts';

export interface Gathered {
  readonly groups_P: readonly GradedGroup[];
  readonly time_sample: number;
  readonly time_score: number;
}

export async function gather(
  { policy, stage, sources, seed, outage }: ReinforceOptions,
  phase: Phase,
  step: number,
): Promise<Gathered> {
  const source = sources[0]!;
  const mode = source.mode === 'half_half' ? undefined : source.mode;
  const started = performance.now();
  const plan = { seed, stage: stage.name, rows: source.rows.length, size: stage.prompts_per_step };
  const tasks_P = batchOf(plan, step);
  const sampling = {
    rollouts: stage.rollouts,
    temperature: phase.temperature,
    maxResponse: phase.max_response,
    ...truncationOf(phase),
  };
  const rollouts_PG = await sampleGroups(
    policy,
    tasks_P.map((task) => source.prompts.get(mode)![task]!),
    sampling,
    drawKey(seed, `rollouts/${stage.name}`, step),
  );
  const sampled = performance.now();
  const place = { stage: stage.name, step, suite: null };
  const rows_P = tasks_P.map((task) => source.rows[task]!);
  const graded_PG = await gradeGroups(source.verifier, rows_P, rollouts_PG, place, outage);
  return {
    groups_P: graded_PG.map((rollouts_G, p) => ({ source, task: tasks_P[p]!, mode, rollouts_G })),
    time_sample: (sampled - started) / 1000,
    time_score: (performance.now() - sampled) / 1000,
  };
}
