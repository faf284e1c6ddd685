// Between sampler and graders: rollouts that have ended, each handed on at once, or with as many others of its source as its grader is
// asked about together; what is left when the sampler is done goes in the order of prompts.
import { askedTogether } from '../../rewards/grading-kind.ts';
import type { BatchGrading } from '../batch-grading.ts';
import { gradingOf } from '../grading.ts';
import type { Rollout } from '../rollout.ts';
import { rowOf } from './group.ts';
import type { GroupRequest } from './group-request.ts';
import type { Source } from './source.ts';

interface Ended {
  readonly rollout: Rollout;
  /** Places of its prompt in the round and of itself in its group. */
  readonly p: number;
  readonly g: number;
}

export class EndedRollouts {
  readonly #requests_P: readonly GroupRequest[];
  readonly #grading: BatchGrading;
  /** Of each group. */
  readonly #gradeOf_P: readonly ReturnType<typeof gradingOf>[];
  readonly #held = new Map<Source, Ended[]>();

  /** `size` of every group. */
  constructor(requests_P: readonly GroupRequest[], size: number, grading: BatchGrading) {
    this.#requests_P = requests_P;
    this.#gradeOf_P = requests_P.map((request) => gradingOf(request.source.verifier, rowOf(request), size));
    this.#grading = grading;
  }

  add(ended: Ended): void {
    const { source } = this.#requests_P[ended.p]!;
    const held = [...(this.#held.get(source) ?? []), ended];
    const isFull = held.length >= togetherOf(source);
    this.#held.set(source, isFull ? [] : held);
    if (isFull) held.forEach((one) => this.#begin(one));
  }

  /** The sampler is done. */
  close(): void {
    const left = [...this.#held.values()].flat();
    this.#held.clear();
    left.sort((a, b) => a.p - b.p || a.g - b.g).forEach((one) => this.#begin(one));
  }

  #begin({ rollout, p, g }: Ended): void {
    const { source, task } = this.#requests_P[p]!;
    const { isDeterministic } = source.verifier;
    const sameAs = isDeterministic ? JSON.stringify([source.domain, task, rollout.text]) : undefined;
    const grade = () => this.#gradeOf_P[p]!(g, rollout.text);
    this.#grading.begin(p, g, { rollout, grade, sameAs });
  }
}

const togetherOf = ({ grader, rewardModel }: Source): number =>
  rewardModel === undefined ? askedTogether(grader) : Infinity;
