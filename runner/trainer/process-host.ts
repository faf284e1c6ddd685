// The cascade's host inside a trainer process: entries and progress become messages, snapshots and samples become files in
// scratch that the supervisor has uploaded. A snapshot waits for the one before it to be committed and gone: scratch holds one.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Entry } from '../../api/contract/event.ts';
import type { Progress } from '../../api/contract/job.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { Claim } from '../../api/contract/runner.ts';
import type { Clock } from '../cascade/outage.ts';
import { Paused } from '../cascade/point.ts';
import type { Carried, Point, PointKind } from '../cascade/point.ts';
import type { Host } from '../cascade/host.ts';
import type { SnapshotContents } from '../checkpoint/snapshot.ts';
import { writeSnapshot } from '../checkpoint/snapshot.ts';
import type { FromTrainer, Inputs } from '../ipc.ts';
import { samplesKey } from '../ipc.ts';
import type { Conditions } from './conditions.ts';
import { ProcessTeachers } from './process-teachers.ts';
import type { OpenTeachers } from './process-teachers.ts';

const signOfLifeMs = 1_000;

/** The supervisor, as the trainer hears and tells it. */
export interface Parent {
  readonly send: (message: FromTrainer) => void;
  readonly pauseAsked: () => boolean;
}

/** `alive` is told every second of a wait: a trainer that waits has not stalled. A wait ends with Paused once that is asked for. */
export const livelyClock = ({ send, pauseAsked }: Parent): Clock => ({
  now: () => performance.now(),
  wait: async (ms) => {
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      if (pauseAsked()) throw new Paused('paused while waiting for rewards');
      await delay(Math.min(left, signOfLifeMs));
      send({ type: 'alive' });
    }
  },
});

export interface ProcessHostOptions {
  readonly claim: Claim;
  readonly scratch: string;
  readonly conditions: Conditions;
  readonly parent: Parent;
  readonly contents: (point: Point, kind: PointKind, carried: Carried) => Promise<SnapshotContents>;
  /** Where a stage distils. */
  readonly teachers?: OpenTeachers | undefined;
  /** Directories of teachers from outside the job. */
  readonly outsideTeachers?: Inputs['teachers'];
}

export class ProcessHost implements Host {
  readonly clock: Clock;
  readonly teachers?: ProcessTeachers;
  readonly #options: ProcessHostOptions;
  readonly #send: Parent['send'];
  #pending: { readonly dir: string; readonly done: PromiseWithResolvers<void> } | undefined;

  constructor(options: ProcessHostOptions) {
    this.#options = options;
    this.#send = options.parent.send;
    this.clock = livelyClock(options.parent);
    const { claim, scratch, parent, teachers, outsideTeachers: outside = {} } = options;
    if (teachers === undefined) return;
    const settled = (): Promise<void> => this.settled();
    this.teachers = new ProcessTeachers({ ...teachers, spec: claim.spec, outside, scratch, parent, settled });
  }

  emit(entry: Entry): void {
    this.#send({ type: 'entry', entry });
  }

  pauseAsked(): boolean {
    return this.#options.parent.pauseAsked();
  }

  alive(): void {
    this.#send({ type: 'alive' });
  }

  progress(progress: Progress): void {
    this.#send({ type: 'progress', progress });
  }

  async samples(
    lines: readonly SampleLine[],
    { stageIndex, stage, phase, step }: Parameters<Host['samples']>[1],
  ): Promise<void> {
    const { claim, scratch } = this.#options;
    const folder = join(scratch, 'samples');
    await mkdir(folder, { recursive: true });
    const file = join(folder, `${stageIndex}-${step}.jsonl`);
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const rows = lines.map(({ task, rollout, mode, status, reward }, line) => ({
      line,
      task,
      rollout,
      mode,
      status,
      reward,
    }));
    const key = samplesKey(claim.job, claim.attempt, { stage, stage_index: stageIndex, step });
    this.#send({ type: 'samples', file, entry: { type: 'samples', stage, phase, step, key, rows } });
  }

  async snapshot(point: Point, kind: PointKind, carried: Carried): Promise<void> {
    await this.settled();
    if (kind !== 'step') await this.teachers?.stageOver();
    const { claim, scratch, conditions, contents } = this.#options;
    const stage = claim.spec.stages[point.stageIndex]!.name;
    const meta = { stage, stage_index: point.stageIndex, step: point.step, kind };
    const dir = join(scratch, `snapshot-${point.stageIndex}-${point.step}`);
    await writeSnapshot(
      dir,
      { job: claim.job, attempt: claim.attempt, ...meta, conditions },
      await contents(point, kind, carried),
    );
    this.#pending = { dir, done: Promise.withResolvers() };
    this.#send({ type: 'snapshot', dir, meta });
  }

  /** The supervisor's word that the snapshot is committed. */
  snapshotDone(dir: string): void {
    if (this.#pending?.dir === dir) this.#pending.done.resolve();
  }

  /** Resolves once no snapshot is pending. */
  async settled(): Promise<void> {
    await this.#pending?.done.promise;
    this.#pending = undefined;
  }
}
