// The jobs of a fault run and what is asked of them: posted until somebody has seen their 201, followed event by event, some of them
// cancelled, paused, resumed. It knows of each job how it may end; whether it did is for others to find out.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../api/client.ts';
import { ApiError, UnreachableError } from '../../api/client.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobState } from '../../api/contract/job.ts';
import { isTerminal } from '../../api/contract/job.ts';
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';
import type { Accepted } from './promises/jobs.ts';
import type { JobKind, SpecOf } from './specs.ts';
import { jobKinds } from './specs.ts';

export type Wish = 'none' | 'cancel' | 'pause' | 'pause_and_resume';

export interface PlannedJob {
  readonly number: number;
  readonly kind: JobKind;
  readonly seed: number;
  readonly wish: Wish;
  /** The wish is said once the job has so many events. */
  readonly atEvent: number;
}

const shares: readonly (readonly [Wish, number])[] = [
  ['cancel', 0.15],
  ['pause', 0.08],
  ['pause_and_resume', 0.2],
  ['none', 1],
];
const latestWish = 24;

/** The same jobs in the same order for a seed; `seeds` different ones of each kind. */
export function plannedJob(seed: number, number: number, seeds: number): PlannedJob {
  const draw = drawStream(drawKey(seed, 'jobs', 0), number, 0);
  const pick = draw(0);
  // Two cascades and two sft jobs for each evaluation: it is over soon.
  const kind = pick < 0.4 ? 'sft' : pick < 0.8 ? 'cascade' : 'evaluate';
  const wished = draw(1);
  const [wish] = shares.find(
    ([, until], at) => wished < shares.slice(0, at).reduce((sum, [, share]) => sum + share, until),
  )!;
  return {
    number,
    kind,
    seed: 1 + Math.floor(draw(2) * seeds),
    wish,
    atEvent: 1 + Math.floor(draw(3) * latestWish),
  };
}

export interface JobCount {
  readonly posted: number;
  readonly atRest: number;
  /** Seen by those who follow. */
  readonly events: number;
}

export class Load {
  readonly accepted: Accepted[] = [];
  /** The first terminal state that a follower was told of. */
  readonly ends = new Map<string, JobState>();
  readonly breaches: string[] = [];
  readonly #client: Client;
  readonly #specOf: SpecOf;
  readonly #following = new AbortController();
  readonly #open = new Set<Promise<void>>();
  #atRest = 0;
  #events = 0;

  constructor(client: Client, specOf: SpecOf) {
    this.#client = client;
    this.#specOf = specOf;
  }

  get count(): JobCount {
    return { posted: this.accepted.length, atRest: this.#atRest, events: this.#events };
  }

  /** Posts jobs, at most `width` of them open at a time, for as long as `wants` says so. */
  async post(
    plan: (number: number) => PlannedJob,
    width: number,
    wants: (posted: number) => boolean,
  ): Promise<void> {
    for (let number = 0; wants(number); number += 1) {
      while (this.#open.size >= width && wants(number)) await Promise.race([...this.#open, delay(500)]);
      if (wants(number)) await this.#begin(plan(number));
    }
  }

  /** One job of each kind and seed, undisturbed; their ids by name. */
  async undisturbed(seeds: number): Promise<ReadonlyMap<string, string>> {
    const plans = jobKinds.flatMap((kind) =>
      Array.from(
        { length: seeds },
        (_, at) => ({ number: -1 - at, kind, seed: at + 1, wish: 'none', atEvent: 0 }) as const,
      ),
    );
    for (const plan of plans) await this.#begin(plan);
    await Promise.all(this.#open);
    return new Map(this.accepted.map(({ id, name }) => [name, id]));
  }

  /** Resolves when every job is at rest, or when the time is over. */
  async settle(ms: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([
      Promise.all(this.#open),
      delay(ms, undefined, { signal: over.signal }).catch(() => undefined),
    ]);
    over.abort();
    this.#following.abort(new Error('the run is over'));
    await Promise.allSettled(this.#open);
  }

  async #begin(plan: PlannedJob): Promise<void> {
    const spec = this.#specOf(plan.kind, plan.seed);
    const { id } = await insisting(() =>
      this.#client.createJob(spec, { idempotencyKey: `job-${plan.number}-${plan.kind}-${plan.seed}` }),
    );
    const job = { id, name: spec.name!, mayEndAs: ['succeeded'] as JobState[] };
    this.accepted.push(job);
    const followed = this.#follow(job, plan)
      .catch((error: unknown) => {
        if (!this.#following.signal.aborted)
          this.breaches.push(`${id}: its follower was told ${String(error)}`);
      })
      .finally(() => {
        this.#open.delete(followed);
        this.#atRest += 1;
      });
    this.#open.add(followed);
  }

  async #follow(job: { id: string; mayEndAs: JobState[] }, { wish, atEvent }: PlannedJob): Promise<void> {
    const { signal } = this.#following;
    let [seen, asked] = [0, wish === 'none'];
    for await (const event of this.#client.events(job.id, { signal })) {
      this.#events += 1;
      seen += 1;
      if (event.seq !== seen) this.breaches.push(`${job.id}: event ${event.seq} came in place of ${seen}`);
      this.#noteEnd(job.id, event);
      if (!asked && seen >= atEvent) {
        asked = true;
        job.mayEndAs.splice(0, Infinity, ...(await this.#ask(job.id, wish)));
      }
      if (wish === 'pause_and_resume' && isPaused(event)) await this.#resume(job.id);
      if (wish === 'pause' && asked && isPaused(event)) return;
    }
  }

  #noteEnd(id: string, { body }: JobEvent): void {
    if (body.type === 'state' && isTerminal(body.to)) this.ends.set(id, body.to);
  }

  /** How the job may end, now that this was asked and answered. */
  async #ask(id: string, wish: Wish): Promise<JobState[]> {
    try {
      if (wish === 'cancel') {
        await insisting(() => this.#client.cancelJob(id));
        return ['cancelled'];
      }
      await insisting(() => this.#client.pauseJob(id));
      // Where it had all but ended, the pause comes too late.
      return wish === 'pause' ? ['paused', 'succeeded'] : ['succeeded'];
    } catch (error) {
      if (error instanceof ApiError && error.code === 'conflict') return ['succeeded'];
      throw error;
    }
  }

  /** A second asking, where the first answer was lost, may find the job at its end already. */
  async #resume(id: string): Promise<void> {
    await insisting(() => this.#client.resumeJob(id)).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'conflict')) throw error;
    });
  }
}

const isPaused = ({ body }: JobEvent): boolean => body.type === 'state' && body.to === 'paused';

/** Until there is an answer about the request itself. */
async function insisting<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const passing = error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
      if (!passing) throw error;
      await delay(200);
    }
  }
}
