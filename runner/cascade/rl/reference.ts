// What a stage with a KL penalty is held to: the policy as the stage found it. It is part of every checkpoint within the stage: the
// weights that come with one have moved on.
import type { Frozen } from '../../engine/learner/frozen.ts';
import type { Learner } from '../../engine/learner/learner.ts';
import type { Scores } from '../../engine/learner/token-scores.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import type { StageCarried } from '../stage-run.ts';

export class Reference {
  readonly #learner: Learner;
  #frozen: Frozen | undefined;

  constructor(learner: Learner) {
    this.#learner = learner;
  }

  /** From the checkpoint that the stage goes on from or, where it begins, from the learner. */
  async open(carried: StageCarried | undefined): Promise<void> {
    if (carried !== undefined && carried.reference === undefined)
      throw new Error(
        'the checkpoint to go on from holds no reference, which the stage’s KL penalty needs: begin the stage anew from a checkpoint before it',
      );
    this.#frozen = await this.#learner.freeze(carried?.reference);
  }

  /** What a checkpoint holds of it. */
  get carried(): Pick<StageCarried, 'reference'> {
    return { reference: this.#opened.trained };
  }

  async score(
    sequences: readonly WeightedSequence[],
    options: { readonly temperature: number },
  ): Promise<Scores> {
    return await this.#opened.scorer.score(sequences, options);
  }

  close(): void {
    this.#frozen?.scorer[Symbol.dispose]();
    this.#frozen = undefined;
  }

  get #opened(): Frozen {
    if (this.#frozen === undefined) throw new Error('internal: the stage’s reference is not open');
    return this.#frozen;
  }
}
