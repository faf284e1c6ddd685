// What the two threads of a QuickJS run share: how long the program waited for its peer, and who wakes whom.
import type { MessagePort } from 'node:worker_threads';
import { receiveMessageOnPort } from 'node:worker_threads';
import type { CodeLanguage } from '../../../../api/contract/grader.ts';
import type { Limits } from '../sandbox.ts';

export interface WorkerData {
  readonly language: CodeLanguage;
  readonly main: string;
  readonly stdin: string;
  readonly limits: Limits;
  readonly clock: WaitClock;
  readonly peer?: Peer;
}

/** `exited` and `over` are the last message of a worker. `over`: of its output. */
export type WorkerMessage =
  /** `cpuSeconds`: of the thread so far. */
  | { readonly type: 'started'; readonly cpuSeconds: number }
  | { readonly type: 'wrote'; readonly descriptor: 1 | 2 | 3; readonly text: string }
  | { readonly type: 'exited'; readonly code: number; readonly cpuSeconds: number }
  | { readonly type: 'over' };

/** Milliseconds since the epoch: [waited in all before now, waiting since (0: it is not)]. */
export type WaitClock = Float64Array<SharedArrayBuffer>;

export const createWaitClock = (): WaitClock => new Float64Array(new SharedArrayBuffer(16));

export function waitedMilliseconds([waited = 0, since = 0]: WaitClock, now: number): number {
  return waited + (since === 0 ? 0 : now - since);
}

/** One end of a byte stream. `signals`: [messages sent to it, whether its other end has gone]. */
export interface Peer {
  readonly port: MessagePort;
  readonly mine: Int32Array<SharedArrayBuffer>;
  readonly theirs: Int32Array<SharedArrayBuffer>;
}

export function createPeers(): [Peer, Peer] {
  const { port1, port2 } = new MessageChannel() as unknown as { port1: MessagePort; port2: MessagePort };
  const signals = () => new Int32Array(new SharedArrayBuffer(8));
  const [one, two] = [signals(), signals()];
  return [
    { port: port1, mine: one, theirs: two },
    { port: port2, mine: two, theirs: one },
  ];
}

export function wake(signals: Int32Array<SharedArrayBuffer>): void {
  Atomics.add(signals, 0, 1);
  Atomics.notify(signals, 0);
}

/** The other end has gone: what it sent is still read, then reads end. */
export function hangUp({ mine }: Peer): void {
  Atomics.store(mine, 1, 1);
  wake(mine);
}

/** Blocks the thread until the other end has sent something; undefined once it has gone. */
export function receive({ port, mine }: Peer, clock: WaitClock): string | undefined {
  for (;;) {
    const seen = Atomics.load(mine, 0);
    const gone = Atomics.load(mine, 1) === 1;
    const received = receiveMessageOnPort(port) as { message: string } | undefined;
    if (received !== undefined) return received.message;
    if (gone) return undefined;
    clock[1] = Date.now();
    Atomics.wait(mine, 0, seen);
    clock[0] = waitedMilliseconds(clock, Date.now());
    clock[1] = 0;
  }
}
