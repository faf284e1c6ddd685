// The service's processes, kept alive as a process manager keeps them: two APIs behind the balancer, and runners. What a victim of
// the schedule is among them.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lastLines } from '../../cli/serve/log-file.ts';
import type { ProcessIdentity } from '../../cli/serve/process-tree.ts';
import { isAlive, treeOf } from '../../cli/serve/process-tree.ts';
import type { Service } from '../../cli/serve/service.ts';
import { startService } from '../../cli/serve/service.ts';
import { cleanEnv } from '../cli/run-cli.ts';
import type { Balancer } from './balancer.ts';
import type { Site, Victim } from './schedule.ts';

const root = resolve(import.meta.dirname, '../..');
const clockShift = resolve(import.meta.dirname, 'clock-shift.ts');

const entries = {
  trainer: 'runner/trainer.ts',
  uploader: 'runner/uploader.ts',
  grader: 'runner/grader.ts',
} as const;

/** An API that is started while its database is away says so and ends: who keeps it tries again. */
const explained = /the database of DATABASE_URL cannot be used/;

export interface ProcessesOptions extends Site {
  readonly dir: string;
  readonly databaseUrl: string;
  readonly storeEnv: Readonly<Record<string, string>>;
  readonly runnerToken: string;
  readonly balancer: Balancer;
  readonly leaseMs: number;
}

export interface Processes {
  /** Those that a victim is now; none where it is not there. */
  of(victim: Victim): ProcessIdentity[];
  /** Every end that was not a SIGKILL of ours, and was followed by a new start. */
  readonly restarts: readonly string[];
  /** Of these what no fault explains: a process that failed by itself. */
  readonly crashes: readonly string[];
  /** The wall clock of a runner from its next start on. */
  setClock(runner: number, shiftMs: number): void;
  /** Ends all in order; resolves when none is left that was started here. */
  stop(): Promise<void>;
}

export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const { dir, balancer, leaseMs } = options;
  const running = new Map<string, ProcessIdentity>();
  const services: Service[] = [];
  const restarts: string[] = [];
  const crashes: string[] = [];
  const shifts = new Map<number, number>();
  const launch = (name: string, entry: string, env: () => NodeJS.ProcessEnv, readyIn?: ReadyIn): Service => {
    const service = startService({
      name,
      entry: join(root, entry),
      // Who looks for what is left behind finds it by the folder's name in the environment.
      env: () => ({ ...cleanEnv(), FAULT_RUN: dir, ...options.storeEnv, ...env() }),
      log: join(dir, `${name}.log`),
      ...(readyIn && { readyIn }),
      graceMs: 15_000,
      backoff: { firstMs: 100, mostMs: 1_000, calmMs: 10_000 },
      onProcess: (identity, state) => {
        if (state === 'started') running.set(name, identity);
      },
      onRestart: (why) => {
        if (why === 'signal SIGKILL') return;
        const said = `${name} ended by itself (${why}): ${lastLines(join(dir, `${name}.log`), 0)}`;
        restarts.push(said);
        if (!explained.test(said)) crashes.push(said);
      },
    });
    services.push(service);
    return service;
  };
  for (let api = 0; api < options.apis; api += 1) await startApi(launch, options, api);
  for (let runner = 0; runner < options.runners; runner += 1)
    launch(`runner-${runner}`, 'runner/main.ts', () => ({
      MILLRACE_URL: balancer.url,
      MILLRACE_RUNNER_TOKEN: options.runnerToken,
      MILLRACE_RUNNER_NAME: `runner-${runner}`,
      MILLRACE_SCRATCH: join(dir, `scratch-${runner}`),
      // A store that is away for longer ends the attempt, which is tried again.
      MILLRACE_STORE_RETRY_MS: String(2 * leaseMs),
      ...shiftedClock(shifts.get(runner)),
    }));
  return {
    restarts,
    crashes,
    of: (victim) => processesOf(running, victim),
    setClock: (runner, shiftMs) => void shifts.set(runner, shiftMs),
    async stop() {
      for (const service of services.reverse()) await service.stop();
    },
  };
}

type ReadyIn = (line: string) => string | undefined;

const shiftedClock = (shiftMs = 0): NodeJS.ProcessEnv =>
  shiftMs === 0 ? {} : { NODE_OPTIONS: `--import=${clockShift}`, FAULT_CLOCK_SHIFT_MS: String(shiftMs) };

async function startApi(
  launch: (name: string, entry: string, env: () => NodeJS.ProcessEnv, readyIn: ReadyIn) => Service,
  { databaseUrl, leaseMs, balancer }: ProcessesOptions,
  api: number,
): Promise<void> {
  let port = '0';
  const service = launch(
    `api-${api}`,
    'api/node.ts',
    () => ({
      DATABASE_URL: databaseUrl,
      PORT: port,
      MILLRACE_LEASE_MS: String(leaseMs),
      MILLRACE_HEARTBEAT_MS: '300',
      MILLRACE_TICK_MS: '200',
    }),
    (line) => /"url":"(http[^"]+)".*"msg":"listening"/.exec(line)?.[1],
  );
  const url = await service.ready;
  port = new URL(url).port;
  balancer.upstreams = [...balancer.upstreams, url];
}

function processesOf(running: ReadonlyMap<string, ProcessIdentity>, { role, of }: Victim): ProcessIdentity[] {
  const first = running.get(role === 'api' ? `api-${of}` : `runner-${of}`);
  if (first === undefined || !isAlive(first)) return [];
  if (role === 'api' || role === 'supervisor') return [first];
  const tree = treeOf(first);
  return role === 'machine'
    ? tree
    : tree.filter(({ pid }) => commandOf(pid).includes(entries[role])).slice(0, 1);
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // gone meanwhile
  }
}
