// A job run to its end while its processes are killed by plan (SIGKILL), and the same job undisturbed, to measure by.
import { setTimeout as delay } from 'node:timers/promises';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import type { RunRecord } from '../support/run-record.ts';
import { recordOf } from '../support/run-record.ts';
import type { Pace } from './pace.ts';
import type { Blow } from './plan.ts';
import type { FaultService } from './local-service.ts';

export interface Kill extends Blow {
  /** The stage that was at work: the planned one, or one after it. */
  readonly fellIn: string;
  /** Date.now(). */
  readonly at: number;
}

export interface FaultRun {
  readonly record: RunRecord;
  readonly events: readonly JobEvent[];
  readonly kills: readonly Kill[];
  readonly attempts: number;
  readonly seconds: number;
}

/** How long a process that is to be killed may take to be there. */
const appearsMs = 60_000;

/** Kills nothing where there is no plan. @throws Error where the job does not succeed. */
export async function runJob(
  service: FaultService,
  spec: JobSpecInput,
  plan?: { readonly blows: readonly Blow[]; readonly pace: Pace },
): Promise<FaultRun> {
  const { client } = service;
  const began = performance.now();
  const { id } = await client.createJob(spec);
  const events: JobEvent[] = [];
  const kills: Kill[] = [];
  // After a kill that ends an attempt the next one is waited for: no kill is of a process that dies already.
  let awaited: number | undefined;
  const due = [...(plan?.blows ?? [])];
  const place = new Place();
  for await (const event of client.events(id)) {
    events.push(event);
    place.move(event);
    const isNext = event.body.type === 'attempt_started' && Date.parse(event.created_at) > (awaited ?? 0);
    if (isNext) awaited = undefined;
    if (plan === undefined || due.length === 0 || awaited !== undefined) continue;
    if (!place.isAt(due[0]!, event)) continue;
    const blow = due.shift()!;
    if (await strike(service, blow, plan.pace)) kills.push({ ...blow, fellIn: place.stage, at: Date.now() });
    if (blow.victim === 'trainer' || blow.victim === 'supervisor') awaited = Date.now();
  }
  const { state, reason, message, attempt } = await client.job(id);
  if (state !== 'succeeded') throw new Error(`job ${id} is ${state}: ${reason}: ${message}`);
  const seconds = (performance.now() - began) / 1000;
  // Events are read later than they happen: what fell after the job's end has disturbed nothing.
  const end = Date.parse(events.at(-1)!.created_at);
  const fallen = kills.filter(({ at }) => at < end);
  return { record: await recordOf(client, id, events), events, kills: fallen, attempts: attempt, seconds };
}

/** How far the job has come, by what its events say. */
class Place {
  #stageIndex = -1;
  #step = 0;
  #steps = Infinity;
  #index = new Map<string, number>();

  get stage(): string {
    return [...this.#index].find(([, index]) => index === this.#stageIndex)?.[0] ?? 'initial';
  }

  move({ body }: JobEvent): void {
    if (body.type === 'stage_started') {
      this.#index.set(body.stage, body.stage_index);
      [this.#stageIndex, this.#step, this.#steps] = [body.stage_index, 0, body.steps];
    }
    if (body.type === 'step' || body.type === 'step_skipped') this.#step = body.step;
    if (body.type === 'stage_finished') this.#step = this.#steps;
    if (body.type === 'rewound') {
      this.#stageIndex = this.#index.get(body.stage) ?? -1;
      this.#step = body.to_step;
    }
  }

  isAt({ stageIndex, afterStep, moment }: Blow, { body }: JobEvent): boolean {
    if (body.type === 'state' && body.to === 'succeeded') return false;
    if (this.#stageIndex !== stageIndex) return this.#stageIndex > stageIndex;
    const starts = body.type === 'attempt_started' || this.#step >= this.#steps - 1;
    return this.#step >= afterStep && (moment !== 'start' || starts);
  }
}

/** False where no such process came to be there. */
async function strike(service: FaultService, { victim, ...blow }: Blow, pace: Pace): Promise<boolean> {
  await delay(blow.delay * pace.of(blow.stage, blow.moment));
  const deadline = performance.now() + appearsMs;
  for (let pid = service.pid(victim); performance.now() < deadline; pid = service.pid(victim)) {
    if (pid !== undefined && hasKilled(pid)) return true;
    await delay(20);
  }
  return false;
}

function hasKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // ended by itself meanwhile
  }
}
