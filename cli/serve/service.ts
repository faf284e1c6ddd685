// One of the processes that `serve` keeps: started by path, logged to a file, restarted with growing pauses when it
// dies, ended with its whole tree. It knows nothing of what the process does but its ready line.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { closeLog, lastLines, openLog, sizeOfLog, writeLine } from './log-file.ts';
import type { ProcessIdentity } from './process-tree.ts';
import { endTree, identityOf } from './process-tree.ts';

export interface ServiceOptions {
  readonly name: string;
  readonly entry: string;
  readonly args?: readonly string[];
  /** Asked at every start: an address may have changed. */
  readonly env: () => NodeJS.ProcessEnv;
  readonly log: string;
  /** The address in the line of standard output that says the process is ready; absent: ready as soon as it runs. */
  readonly readyIn?: (line: string) => string | undefined;
  readonly graceMs: number;
  readonly backoff: Backoff;
  /** Told at each start and each end of the process. */
  readonly onProcess: (identity: ProcessIdentity, state: 'started' | 'ended') => void;
  /** Told when it died and will be started again. */
  readonly onRestart: (why: string) => void;
}

const lastOutputMs = 1000;

export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
  /** After this long alive, a death is the first one again. */
  readonly calmMs: number;
}

export interface Service {
  /** Address of the first start. Rejects where the process dies before it is ready; it is then not started again. */
  readonly ready: Promise<string>;
  /** Called with the address of every later start. */
  onReadyAgain: (address: string) => void;
  /** Ends it, and starts it again at once. */
  restart(): void;
  /** Nothing of it is left when this resolves; `now` cuts the grace short. */
  stop(now?: AbortSignal): Promise<void>;
}

interface Run {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<string>;
  /** Where its part of the log begins. */
  readonly logFrom: number;
}

export function startService(options: ServiceOptions): Service {
  const stopping = new AbortController();
  let current: Run | undefined;
  let firstAddress: (address: string) => void;
  let neverReady: (error: Error) => void;
  let wasReady = false;
  const ready = new Promise<string>((resolve, reject) => ([firstAddress, neverReady] = [resolve, reject]));
  ready.catch(() => undefined); // whoever waits for it is told; nobody may have begun to wait yet
  const service: Service = {
    ready,
    onReadyAgain: () => undefined,
    restart: () => void (current && endTree(current.identity, options.graceMs)),
    async stop(now) {
      stopping.abort();
      const stopped = current && (await endTree(current.identity, options.graceMs, now));
      if (stopped === false) note(options.log, `${options.name} did not end in time and was killed`);
      await kept;
    },
  };
  const onAddress = (address: string): void => {
    if (wasReady) service.onReadyAgain(address);
    else firstAddress(address);
    wasReady = true;
  };

  const keep = async (): Promise<void> => {
    for (let deaths = 0; !stopping.signal.aborted;) {
      const startedAt = performance.now();
      current = start(options, onAddress);
      const why = await current.exited;
      if (stopping.signal.aborted) return;
      if (!wasReady) {
        neverReady(
          new Error(
            `${options.name} ended before it was ready (${why}): ${lastLines(options.log, current.logFrom)}`,
          ),
        );
        return;
      }
      deaths = performance.now() - startedAt > options.backoff.calmMs ? 1 : deaths + 1;
      options.onRestart(why);
      const pause = Math.min(options.backoff.mostMs, options.backoff.firstMs * 2 ** (deaths - 1));
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const kept = keep();
  return service;
}

function start(options: ServiceOptions, onAddress: (address: string) => void): Run {
  const log = openLog(options.log);
  const logFrom = sizeOfLog(log);
  // A group of its own, so that Ctrl-C reaches `serve` only; a standard input that closes when `serve` is gone.
  const child = spawn(process.execPath, [options.entry, ...(options.args ?? [])], {
    env: options.env(),
    detached: true,
    stdio: ['pipe', 'pipe', log],
  });
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  if (identity !== undefined) options.onProcess(identity, 'started');
  readOutput(child, log, options.readyIn, onAddress);
  if (identity !== undefined && options.readyIn === undefined) onAddress('');
  const exited = exitOf(child).then((why) => {
    closeLog(log);
    if (identity !== undefined) options.onProcess(identity, 'ended');
    return why;
  });
  return { identity: identity ?? { pid: -1, started: -1 }, exited, logFrom };
}

function readOutput(
  child: ChildProcess,
  log: number,
  readyIn: ServiceOptions['readyIn'],
  onAddress: (address: string) => void,
): void {
  child.stdin?.on('error', () => undefined);
  if (child.stdout === null) return;
  createInterface({ input: child.stdout }).on('line', (line) => {
    writeLine(log, line);
    const address = readyIn?.(line);
    if (address !== undefined) onAddress(address);
  });
}

/** After its output has been read, which a grandchild that holds the pipe open may delay only so long. */
function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const tell = (code: number | null, signal: string | null): void =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    child.once('close', tell);
    child.once('exit', (code, signal) => setTimeout(tell, lastOutputMs, code, signal).unref());
    child.once('error', (error) => resolve(error.message));
  });
}

function note(path: string, text: string): void {
  const log = openLog(path);
  writeLine(log, `serve: ${text}`);
  closeLog(log);
}
