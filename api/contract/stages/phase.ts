// Phases of an RL stage: a curriculum of response lengths, temperatures and overlong policies within one stage (Nemotron-Cascade,
// Tables 16-20). Moments, filters and the order of tasks go on from phase to phase; nothing is reset.
import { z } from 'zod';
import { truncation } from '../truncation.ts';
import { count, lowestTemperature } from './common.ts';

/** What becomes of rollouts that ran into max_response; runner/cascade/rl/overlong.ts says what each does. */
export const overlong = z.enum(['keep', 'zero', 'filter', 'penalty']);
export type Overlong = z.infer<typeof overlong>;

export const temperature = z.number().min(lowestTemperature).max(10);

/** What a phase may change; what it leaves out is the stage's. */
const changeable = {
  max_response: count.describe('tokens'),
  temperature,
  ...truncation,
  overlong,
};

/** As executed: one after the other, each for `steps` steps. */
export const phase = z.strictObject({ steps: count, ...changeable });
export type Phase = z.infer<typeof phase>;

/** As posted. */
export const phaseChange = z.strictObject({
  steps: count,
  max_response: changeable.max_response.optional(),
  temperature: temperature.optional(),
  top_k: truncation.top_k.unwrap().optional(),
  top_p: truncation.top_p.unwrap().optional(),
  min_p: truncation.min_p.unwrap().optional(),
  overlong: overlong.optional(),
});
type PhaseChange = z.infer<typeof phaseChange>;

type Phased = Omit<Phase, 'steps'> & {
  readonly steps?: number | undefined;
  readonly phases?: readonly PhaseChange[] | undefined;
};

/** The phases of a stage, each complete; a stage without `phases` is one. */
export function phasesOf(stage: Phased): Phase[] {
  const { max_response, temperature, top_k, top_p, min_p, overlong } = stage;
  const whole = { max_response, temperature, top_k, top_p, min_p, overlong };
  const changes: readonly PhaseChange[] = stage.phases ?? [{ steps: stage.steps! }];
  return changes.map((change) => phase.parse({ ...whole, ...defined(change) }));
}

const defined = (change: PhaseChange) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

/** Steps of all phases. */
export const stepsOf = (stage: Phased): number =>
  phasesOf(stage).reduce((total, { steps }) => total + steps, 0);
