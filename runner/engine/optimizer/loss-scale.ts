// Dynamic loss scale (Micikevicius et al., "Mixed Precision Training", 2018, section 3.2): cotangents are multiplied by a
// power of two so that small ones survive float16, and the update divides it out. A norm that is not finite means that it was
// too large: that step is skipped and the scale halved; after many good steps it is doubled. Knows no tensors.

export interface LossScaleState {
  /** A power of two, so that scaling rounds nothing. */
  readonly scale: number;
  /** Steps since the scale last changed. */
  readonly goodSteps: number;
}

const first = 2 ** 16;
const largest = 2 ** 24;
/** PyTorch's GradScaler and Apex wait as long. */
export const stepsToGrow = 2000;

export class LossScale {
  #scale: number;
  #goodSteps: number;

  constructor({ scale, goodSteps }: LossScaleState = { scale: first, goodSteps: 0 }) {
    if (!(scale >= 1 && scale <= largest && Number.isInteger(Math.log2(scale))))
      throw new RangeError(`loss scale: ${scale} is no power of two between 1 and ${largest}`);
    this.#scale = scale;
    this.#goodSteps = goodSteps;
  }

  /** What the next loss is multiplied by. */
  get scale(): number {
    return this.#scale;
  }

  /** Part of what resumes training exactly. */
  get state(): LossScaleState {
    return { scale: this.#scale, goodSteps: this.#goodSteps };
  }

  /**
   * Takes note of a step's gradient. `update`: it may be used. `skip`: it must not, the scale has been halved.
   * `diverged`: it must not, and no scale was to blame, being 1 already.
   */
  observe(gradNorm: number): 'update' | 'skip' | 'diverged' {
    if (Number.isFinite(gradNorm)) {
      this.#goodSteps += 1;
      if (this.#goodSteps >= stepsToGrow && this.#scale < largest) this.#become(this.#scale * 2);
      return 'update';
    }
    if (this.#scale === 1) return 'diverged';
    this.#become(this.#scale / 2);
    return 'skip';
  }

  #become(scale: number): void {
    this.#scale = scale;
    this.#goodSteps = 0;
  }
}
