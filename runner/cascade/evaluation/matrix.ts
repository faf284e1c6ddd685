// The stage x suite x mode matrix of a run: every suite in every mode, before the first stage, after each, and within stages where
// the spec asks for it.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import type { Grading } from '../grading.ts';
import { heedPause } from '../point.ts';
import type { Evaluated } from '../point.ts';
import type { Policy } from '../policy.ts';
import type { Datasets, Host } from '../host.ts';
import { evaluationEntries } from './entries.ts';
import { evaluateSuite } from './evaluate.ts';
import type { Measured } from './measured.ts';

export interface MatrixOptions {
  readonly spec: ExpandedSpec;
  readonly policy: Policy;
  readonly data: Datasets;
  readonly grading: Grading;
  readonly host: Host;
}

export class Matrix {
  readonly #options: MatrixOptions;
  readonly #evaluations: Evaluated[];

  /** `before`: what a checkpoint says of the evaluations before it. */
  constructor(options: MatrixOptions, before: readonly Evaluated[] = []) {
    this.#options = options;
    this.#evaluations = [...before];
  }

  /** Of the initial model and of ends of stages. */
  get evaluations(): readonly Evaluated[] {
    return this.#evaluations;
  }

  /** At the end of stage `after`, or of the `initial` model. */
  async evaluate(after: string): Promise<readonly Measured[]> {
    const measured = await this.#measure(after, null);
    if (measured.length === 0) return measured;
    const cells = measured.map(({ cell }) => cell);
    this.#evaluations.push({ after, cells });
    this.#say({ after, step: null }, cells);
    return measured;
  }

  /** After `step` steps of a stage, where the spec wants that; a run resumed here evaluates again, and gets the same. */
  async evaluateWithin(stage: string, step: number): Promise<void> {
    const { every_steps } = this.#options.spec.evaluate;
    if (every_steps === undefined || step === 0 || step % every_steps !== 0) return;
    const cells = (await this.#measure(stage, step)).map(({ cell }) => cell);
    this.#say({ after: stage, step }, cells);
  }

  #say(at: Parameters<typeof evaluationEntries>[0], cells: readonly EvaluationCell[]): void {
    evaluationEntries(at, cells).forEach((entry) => this.#options.host.emit(entry));
  }

  async #measure(after: string, step: number | null): Promise<Measured[]> {
    const { spec, policy, data, grading, host } = this.#options;
    const options = { seed: spec.seed, after, step, ...grading };
    const measured = [];
    for (const suite of spec.evaluate.suites) {
      heedPause(host, `before suite ${suite.name}, evaluated after ${after}`);
      measured.push(...(await evaluateSuite(policy, suite, data, options)));
    }
    return measured;
  }
}
