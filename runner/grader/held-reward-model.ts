// The reward model of a grader process: the last one that an errand brought is kept open, so that many small calls with one
// checkpoint load it once. On the CPU: an accelerator is the trainer's.
import { createRuntime } from '../engine/ort/create.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import type { FetchedRewardModel } from '../ipc.ts';
import type { ScoreAnswers } from '../rewards/preference.ts';
import { readModel } from './read-model.ts';
import { RewardModel } from './reward-model.ts';

/** The checkpoint is no reward model: its message names it. */
export class InvalidRewardModel extends Error {
  override readonly name = 'InvalidRewardModel';
}

export class HeldRewardModel implements Disposable {
  #runtime: Runtime | undefined;
  #held: { readonly id: string; readonly model: RewardModel } | undefined;

  /**
   * Scores with the checkpoint; the one that was held before is closed. Not to be called while that one scores. Throws
   * InvalidRewardModel, and RangeError where memory does not hold it.
   */
  async open({ id, directory }: FetchedRewardModel): Promise<ScoreAnswers> {
    if (this.#held?.id !== id) {
      this.#close();
      this.#held = { id, model: await this.#load(id, directory) };
    }
    const { model } = this.#held!;
    return (items) => model.score(items);
  }

  async #load(id: string, directory: string): Promise<RewardModel> {
    this.#runtime ??= createRuntime({ warn: (message) => console.warn(message) });
    try {
      return await RewardModel.create(this.#runtime, await readModel(directory));
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      throw new InvalidRewardModel(`reward model ${id}: ${(cause as Error).message}`, { cause });
    }
  }

  #close(): void {
    this.#held?.model[Symbol.dispose]();
    this.#held = undefined;
  }

  [Symbol.dispose](): void {
    this.#close();
    this.#runtime?.[Symbol.dispose]();
    this.#runtime = undefined;
  }
}
