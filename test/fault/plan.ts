// Which process is killed when: drawn from a seed, so that a run that went wrong can be made again. Every stage gets its share of the
// kills and every process its turn, at moments spread over steps, the evaluation at the end, and the start of attempts.
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';

export const victims = ['trainer', 'supervisor', 'uploader', 'api', 'grader'] as const;
export type Victim = (typeof victims)[number];

/** `step`: while the step after `afterStep` is at work; `start`: as the next attempt begins; `evaluation`: at the stage's end. */
export type Moment = 'step' | 'start' | 'evaluation';

export interface Blow {
  readonly stage: string;
  readonly stageIndex: number;
  /** It falls no sooner than this step of the stage is told; 0: than the stage is. */
  readonly afterStep: number;
  readonly moment: Moment;
  /** Share of what a step, an attempt's start or an evaluation takes, before it falls. */
  readonly delay: number;
  readonly victim: Victim;
}

export interface PlannedStage {
  readonly name: string;
  readonly steps: number;
}

const startShare = 0.2;

/** `kills` in all, in the order in which they fall; in each stage one is of its evaluation. */
export function planBlows(stages: readonly PlannedStage[], kills: number, seed: number): Blow[] {
  const until = (stage: number): number => Math.floor((stage * kills) / stages.length);
  const dealt = deckOf(drawStream(drawKey(seed, 'victims', 0), 0, 0), kills);
  return stages.flatMap(({ name, steps }, stageIndex) => {
    const draw = drawStream(drawKey(seed, `kills/${name}`, 0), 0, 0);
    const deck = dealt.slice(until(stageIndex), until(stageIndex + 1));
    const blows = deck.map((victim, at): Blow => {
      const isLast = at === deck.length - 1;
      return {
        stage: name,
        stageIndex,
        afterStep: isLast ? steps : Math.floor(draw(3 * at) * steps),
        moment: isLast ? 'evaluation' : draw(3 * at + 1) < startShare ? 'start' : 'step',
        delay: draw(3 * at + 2),
        victim,
      };
    });
    return blows.sort((a, b) => a.afterStep - b.afterStep);
  });
}

/** Every process in turn, in an order drawn anew for each round. */
function deckOf(draw: (position: number) => number, size: number): Victim[] {
  const deck: Victim[] = [];
  for (let round = 0; deck.length < size; round += 1) {
    const keyed = victims.map((victim, at) => ({ victim, key: draw(round * victims.length + at) }));
    deck.push(...keyed.sort((a, b) => a.key - b.key).map(({ victim }) => victim));
  }
  return deck.slice(0, size);
}
