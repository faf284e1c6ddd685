// The teachers of an attempt inside its trainer process: from outside as the supervisor has fetched them, ends of the job's own stages
// fetched when they are asked for. What has been fetched leaves scratch once it is in memory; where teachers take turns there, when
// the stage is over.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { isDistilled } from '../../api/contract/stage-kinds.ts';
import { placesOfTeacher } from '../../api/contract/teacher-places.ts';
import type { Teachers } from '../cascade/host.ts';
import { Paused } from '../cascade/point.ts';
import type { Scorer } from '../engine/learner/scorer.ts';
import type { Inputs, ToTrainer } from '../ipc.ts';
import { InvalidModel } from './load-model.ts';
import { isOutOfMemory } from './out-of-memory.ts';
import type { Parent } from './process-host.ts';

/** Teachers as the policy's memory allows them. */
export interface OpenTeachers extends Pick<Teachers, 'atOnce'> {
  /** Of each from outside. */
  readonly positions: ReadonlyMap<string, number>;
  /** Throws where the directory holds none for this policy. */
  open(directory: string): Promise<Scorer>;
}

export interface ProcessTeachersOptions extends OpenTeachers {
  readonly spec: Pick<ExpandedSpec, 'stages'>;
  /** Directories of those from outside the job. */
  readonly outside: NonNullable<Inputs['teachers']>;
  readonly scratch: string;
  readonly parent: Parent;
  /** Resolves once no snapshot is pending: the stage just ended may be the one that is asked for. */
  readonly settled: () => Promise<void>;
}

export type StageEndAnswer = Extract<ToTrainer, { type: 'stage_end' | 'stage_end_missing' }>;

const signOfLifeMs = 1_000;

export class ProcessTeachers implements Teachers {
  readonly atOnce: number;
  readonly #options: ProcessTeachersOptions;
  readonly #takeTurns: boolean;
  /** Directories by stage, as long as they are in scratch. */
  readonly #fetched = new Map<number, string>();
  #asked: { readonly stageIndex: number; readonly answer: PromiseWithResolvers<StageEndAnswer> } | undefined;

  constructor(options: ProcessTeachersOptions) {
    this.#options = options;
    this.atOnce = options.atOnce;
    this.#takeTurns = options.spec.stages.some(
      (stage) => isDistilled(stage) && stage.domains.length > options.atOnce,
    );
  }

  /** Bound: whoever asks may take it from the rest. */
  readonly positionsOf = (teacher: string): number | undefined => this.#options.positions.get(teacher);

  async open(teacher: string): Promise<Scorer> {
    const { outside, spec, open, parent } = this.#options;
    const own = teacher.startsWith('stage:');
    const directory = own ? await this.#stageEnd(teacher) : outside[teacher];
    const name = own ? teacher : `${teacher} of ${placesOfTeacher(spec, teacher)}`;
    if (directory === undefined)
      throw new InvalidModel(`teacher ${name}: the attempt was started without it`);
    try {
      return await open(directory);
    } catch (cause) {
      if (isOutOfMemory(cause)) throw cause;
      throw new InvalidModel(`teacher ${name}: ${(cause as Error).message}`, { cause });
    } finally {
      if (!this.#takeTurns) await this.#dropFetched();
      parent.send({ type: 'alive' });
    }
  }

  /** What was fetched for the stage leaves scratch. */
  async stageOver(): Promise<void> {
    await this.#dropFetched();
  }

  async #dropFetched(): Promise<void> {
    for (const directory of this.#fetched.values()) await rm(directory, { recursive: true, force: true });
    this.#fetched.clear();
  }

  /** The supervisor's word. */
  answer(message: StageEndAnswer): void {
    if (this.#asked?.stageIndex === message.stageIndex) this.#asked.answer.resolve(message);
  }

  async #stageEnd(teacher: string): Promise<string> {
    const { stages } = this.#options.spec;
    const name = teacher.slice('stage:'.length);
    const index = stages.findIndex((stage) => stage.name === name);
    if (index < 0) throw new InvalidModel(`teacher ${teacher}: the job has no stage of this name`);
    const found = await this.#fetch(index);
    if (found.type === 'stage_end') return found.dir;
    throw new InvalidModel(`teacher ${teacher}: ${found.message}`);
  }

  async #fetch(stageIndex: number): Promise<StageEndAnswer> {
    const { scratch, parent, settled } = this.#options;
    const dir = join(scratch, 'teachers', String(stageIndex));
    if (this.#fetched.has(stageIndex)) return { type: 'stage_end', stageIndex, dir };
    await settled();
    const answer = Promise.withResolvers<StageEndAnswer>();
    this.#asked = { stageIndex, answer };
    parent.send({ type: 'fetch_stage_end', stageIndex, dir });
    const given = await waitedFor(answer.promise, parent);
    if (given.type === 'stage_end') this.#fetched.set(stageIndex, dir);
    return given;
  }
}

/** Signs of life are told meanwhile. Throws Paused once that is asked for. */
async function waitedFor<Answer extends object>(
  answer: Promise<Answer>,
  { send, pauseAsked }: Parent,
): Promise<Answer> {
  for (;;) {
    const first = await Promise.race([answer, delay(signOfLifeMs)]);
    if (first !== undefined) return first;
    if (pauseAsked()) throw new Paused('paused while a teacher was fetched');
    send({ type: 'alive' });
  }
}
