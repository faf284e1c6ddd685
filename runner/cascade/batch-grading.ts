// The grading of one batch, begun rollout by rollout while the sampler still decodes the others. Results stand by prompt and rollout,
// whatever was done first; it ends before anything is learnt from the batch.
import type { Reward } from '../rewards/reward.ts';
import type { Graded } from './graded.ts';
import { outlastOutage } from './outage.ts';
import type { GradingPlace, OutagePolicy } from './outage.ts';
import type { Rollout } from './rollout.ts';

export interface Answer {
  readonly rollout: Rollout;
  readonly grade: () => Promise<Reward>;
  /** What it is graded by, where answers of like `sameAs` are worth the same for certain: one of them is graded. */
  readonly sameAs?: string | undefined;
}

interface Begun {
  readonly p: number;
  readonly g: number;
  readonly answer: Answer;
  readonly graded: Promise<Graded>;
}

export class BatchGrading {
  readonly #place: GradingPlace;
  readonly #outage: OutagePolicy;
  readonly #begun: Begun[] = [];
  readonly #known = new Map<string, Promise<Reward>>();
  #atWork = 0;
  #since = 0;
  #busyMs = 0;

  constructor(place: GradingPlace, outage: OutagePolicy) {
    this.#place = place;
    this.#outage = outage;
  }

  /** Seconds in which at least one answer was being graded. */
  get busySeconds(): number {
    return this.#busyMs / 1000;
  }

  /** Rollout `g` of the p-th group. */
  begin(p: number, g: number, answer: Answer): void {
    const graded = this.#grade(answer);
    // Heard of in `end`; a batch whose sampling fails is never ended.
    graded.catch(() => undefined);
    this.#begun.push({ p, g, answer, graded });
  }

  /** All of it, waiting out an outage of the graders. Throws RewardUnavailable. */
  async end(): Promise<Graded[][]> {
    const inOrder = [...this.#begun].sort((a, b) => a.p - b.p || a.g - b.g);
    const first = await Promise.all(
      inOrder.map(async ({ answer, graded }) => ({ answer, ...(await graded) })),
    );
    const again = async ({ answer }: { answer: Answer }) => ({ answer, ...(await this.#grade(answer)) });
    const settled = await outlastOutage(first, again, this.#place, this.#outage);
    const groups: Graded[][] = [];
    settled.forEach(({ rollout, outcome, reward }, i) =>
      (groups[inOrder[i]!.p] ??= []).push({ rollout, outcome, reward }),
    );
    return groups;
  }

  async #grade(answer: Answer): Promise<Graded> {
    const outcome = await this.#outcomeOf(answer);
    this.#outage.alive();
    return { rollout: answer.rollout, outcome, reward: outcome.status === 'unscored' ? null : outcome.value };
  }

  #outcomeOf(answer: Answer): Promise<Reward> {
    const { sameAs } = answer;
    const known = sameAs === undefined ? undefined : this.#known.get(sameAs);
    if (known !== undefined) return known;
    const asked = this.#ask(answer);
    if (sameAs !== undefined) this.#known.set(sameAs, asked);
    return asked;
  }

  /** What could not be scored is not known: it may be asked about again. */
  async #ask({ grade, sameAs }: Answer): Promise<Reward> {
    await turn();
    if (this.#atWork === 0) this.#since = performance.now();
    this.#atWork += 1;
    try {
      const outcome = await grade();
      if (outcome.status === 'unscored' && sameAs !== undefined) this.#known.delete(sameAs);
      return outcome;
    } finally {
      this.#atWork -= 1;
      if (this.#atWork === 0) this.#busyMs += performance.now() - this.#since;
    }
  }
}

/** The sampler's next step is begun first: what a grader computes on this thread then runs beside it. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
