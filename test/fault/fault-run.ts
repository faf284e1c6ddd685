// One fault run: a service of its own, jobs, faults by schedule, quiet, and then every promise looked into.
import { setTimeout as delay } from 'node:timers/promises';
import type { RunRecord } from '../support/run-record.ts';
import { keepGrading } from './grading.ts';
import type { Graded } from './grading.ts';
import { inflict } from './inflict.ts';
import type { Installation } from './installation.ts';
import { startInstallation } from './installation.ts';
import { Load, plannedJob } from './load.ts';
import type { JobCount } from './load.ts';
import { cancelOne } from './promises/cancel.ts';
import { lookAtStore } from './promises/checkpoints.ts';
import type { StoreFindings } from './promises/checkpoints.ts';
import type { History } from './promises/history.ts';
import { changedEnds, endBreaches, historiesOf, historyBreaches } from './promises/jobs.ts';
import { processesLeft, scratchLeft } from './promises/remains.ts';
import { strangerBreaches } from './promises/stranger.ts';
import { recordOfJob, twinBreaches } from './promises/twins.ts';
import type { PlannedFault } from './schedule.ts';
import { faultName } from './schedule.ts';
import { registerData } from './specs.ts';
import type { SpecOf } from './specs.ts';

export interface FaultRunOptions {
  /** Logs, database and scratch; kept by the caller where promises were broken. */
  readonly dir: string;
  readonly seed: number;
  readonly schedule: (site: Installation['site']) => readonly PlannedFault[];
  /** At least so many are posted; more while faults are still to fall. */
  readonly jobs: number;
  /** Different jobs of each kind. */
  readonly seeds: number;
  /** Jobs open at a time. */
  readonly width: number;
  readonly apis: number;
  readonly runners: number;
  readonly leaseMs: number;
  /** For the faults; what has not fallen by then does not. */
  readonly forMs: number;
  /** For the jobs to come to rest afterwards. */
  readonly settleMs: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Progress extends JobCount {
  readonly phase: 'undisturbed' | 'faults' | 'settling' | 'checking';
  readonly fallen: number;
  readonly faults: number;
}

export interface Fallen {
  readonly fault: PlannedFault;
  /** False where there was nobody to strike. */
  readonly struck: boolean;
}

export interface FaultRunFindings {
  readonly breaches: readonly string[];
  readonly fallen: readonly Fallen[];
  readonly histories: readonly History[];
  readonly jobs: JobCount;
  readonly store: StoreFindings;
  readonly graded: Graded;
  readonly cancelFreedAfterMs: number;
  readonly requests: {
    readonly all: number;
    readonly lost: number;
    readonly failures: Readonly<Record<string, number>>;
  };
  /** Of processes that ended although nobody had killed them, in the words of whoever keeps them. */
  readonly restarts: readonly string[];
  readonly storeIs: string;
}

/** Faults at work at a time. */
const mostAtOnce = 3;

export async function faultRun(options: FaultRunOptions): Promise<FaultRunFindings> {
  const site = await startInstallation(options);
  const interrupted = (): void => void site.stop().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  try {
    return await new FaultRun(site, options).run();
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, interrupted);
    await site.stop();
  }
}

class FaultRun {
  readonly #site: Installation;
  readonly #options: FaultRunOptions;
  readonly #faults: readonly PlannedFault[];
  readonly #fallen: Fallen[] = [];
  readonly #breaches: string[] = [];
  #phase: Progress['phase'] = 'undisturbed';

  constructor(site: Installation, options: FaultRunOptions) {
    this.#site = site;
    this.#options = options;
    this.#faults = options.schedule(site.site);
  }

  async run(): Promise<FaultRunFindings> {
    const specOf = await registerData(this.#site.client);
    const load = new Load(this.#site.client, specOf);
    const telling = setInterval(() => this.#tell(load), 1_000);
    try {
      const twins = await this.#undisturbed(load);
      this.#phase = 'faults';
      const graded = await this.#disturbed(load);
      this.#phase = 'checking';
      return await this.#lookInto(load, twins, specOf, graded);
    } finally {
      clearInterval(telling);
    }
  }

  /** Everything that is posted and falls, until all of it is at rest. */
  async #disturbed(load: Load): Promise<Graded> {
    const { seed, seeds, jobs, width, settleMs } = this.#options;
    const stopping = new AbortController();
    const grading = keepGrading(this.#site.client, stopping.signal);
    let faultsOver = false;
    const faults = this.#letFall(load).finally(() => (faultsOver = true));
    await load.post(
      (number) => plannedJob(seed, number, seeds),
      width,
      (posted) => posted < jobs || !faultsOver,
    );
    await faults;
    this.#phase = 'settling';
    await load.settle(settleMs);
    stopping.abort();
    const graded = await grading;
    if (graded.wrong > 0)
      this.#breaches.push(`${graded.wrong} answers were graded otherwise than the first time`);
    return graded;
  }

  async #undisturbed(load: Load): Promise<ReadonlyMap<string, RunRecord>> {
    const ids = await load.undisturbed(this.#options.seeds);
    const records = new Map<string, RunRecord>();
    for (const [name, id] of ids) records.set(name, await recordOfJob(this.#site.client, id));
    return records;
  }

  async #letFall(load: Load): Promise<void> {
    const until = performance.now() + this.#options.forMs;
    const atWork = new Set<Promise<void>>();
    for (const fault of this.#faults) {
      await this.#due(load, fault, until);
      while (atWork.size >= mostAtOnce || (fault.kind === 'database_restart' && atWork.size > 0))
        await Promise.race(atWork);
      if (performance.now() > until) break;
      const falling = inflict(this.#site, fault)
        .catch((error: unknown) => {
          this.#breaches.push(
            `fault ${fault.number} (${faultName(fault)}) could not be done or healed: ${String(error)}`,
          );
          return false;
        })
        .then((struck) => void this.#fallen.push({ fault, struck }))
        .finally(() => atWork.delete(falling));
      atWork.add(falling);
      // A database that is away would fail whatever else needs it to strike.
      if (fault.kind === 'database_restart') await falling;
    }
    await Promise.all(atWork);
  }

  /** Once so many events have come, or none come any more. */
  async #due(load: Load, { afterEvents }: PlannedFault, until: number): Promise<void> {
    const from = load.count.events;
    const patience = Math.min(until, performance.now() + 2 * this.#options.leaseMs);
    while (load.count.events < from + afterEvents && performance.now() < patience) await delay(50);
  }

  #tell(load: Load): void {
    const faults = this.#faults.length;
    this.#options.onProgress({ phase: this.#phase, ...load.count, fallen: this.#fallen.length, faults });
  }

  async #lookInto(
    load: Load,
    twins: ReadonlyMap<string, RunRecord>,
    specOf: SpecOf,
    graded: Graded,
  ): Promise<FaultRunFindings> {
    const { sql, client, stranger, store, balancer, processes, dir } = this.#site;
    const cancelled = await cancelOne(this.#site, specOf);
    const accepted = [...load.accepted, cancelled.job];
    const histories = await historiesOf(sql);
    const finished = accepted.filter(
      ({ id }) => histories.find((one) => one.id === id)?.state === 'succeeded',
    );
    const found = await lookAtStore(sql, store, histories);
    this.#breaches.push(
      ...load.breaches,
      ...cancelled.breaches,
      ...(await endBreaches(sql, accepted)),
      ...changedEnds(load.ends, histories),
      ...historyBreaches(histories),
      ...found.breaches,
      ...(await twinBreaches(client, finished, twins)),
      ...(await strangerBreaches(stranger, await this.#someThings())),
      ...undocumented(balancer.failures),
    );
    await this.#site.stopService();
    this.#breaches.push(...processes.crashes, ...processesLeft(dir), ...scratchLeft(dir));
    return {
      breaches: this.#breaches,
      fallen: this.#fallen,
      histories,
      jobs: load.count,
      store: found,
      graded,
      cancelFreedAfterMs: cancelled.freedAfterMs,
      requests: {
        all: balancer.requests,
        lost: balancer.lost,
        failures: Object.fromEntries(balancer.failures),
      },
      restarts: processes.restarts,
      storeIs: store.describe(),
    };
  }

  async #someThings(): Promise<{ jobs: string[]; checkpoints: string[] }> {
    const { sql } = this.#site;
    const jobs = await sql<{ id: string }[]>`select id from jobs order by id limit 3`;
    const checkpoints = await sql<{ id: string }[]>`select id from checkpoints order by id limit 3`;
    return { jobs: jobs.map(({ id }) => id), checkpoints: checkpoints.map(({ id }) => id) };
  }
}

/** Our own state is said with 503 and a code that is documented; every other 5xx is a bug. */
const undocumented = (failures: ReadonlyMap<string, number>): string[] =>
  [...failures]
    .filter(([name]) => !/ 503 (database_unavailable|store_unavailable|no_capable_runner)$/.test(name))
    .map(([name, times]) => `${times} answers ${name}`);
