// Process entry: ends what `serve` started when `serve` itself is gone, however that went (kill -9 too).
// It reads one JSON line a process, {"identity": …, "state": "started"|"ended"}, from standard input, and works when
// that closes: after an orderly end nothing is left to do.
import { createInterface } from 'node:readline';
import type { ProcessIdentity } from './process-tree.ts';
import { endTree } from './process-tree.ts';

const graceMs = Number(process.argv[2] ?? 10_000);
const alive = new Map<number, ProcessIdentity>();

for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const { identity, state } = JSON.parse(line) as { identity: ProcessIdentity; state: 'started' | 'ended' };
  if (state === 'started') alive.set(identity.pid, identity);
  else alive.delete(identity.pid);
}

// Last started first: the runner may still say goodbye to the API, the API to the database.
for (const identity of [...alive.values()].reverse()) await endTree(identity, graceMs);
