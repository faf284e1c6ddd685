// The process that starts sandboxes, small and kept small: to start a process the kernel copies the page tables of the one that
// starts it, and a trainer's are large (ADR 0015). It ends with the process that started it, however that one ends.
import type { Executor } from '../executor.ts';
import { broken } from '../executor.ts';
import { createBubblewrap } from './bubblewrap.ts';
import type { Programs, Reply, Request, Runs } from './launcher-messages.ts';

let opened: Promise<Executor> | undefined;
const underWay = new Set<Promise<void>>();

async function runsOf(executor: Executor, programs: Programs): Promise<Runs<Programs>> {
  if (programs.length === 1) return [await executor.run(programs[0])];
  const { judge, candidate } = await executor.converse(...programs);
  return [judge, candidate];
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Resolves once it is on its way, or nobody is there to hear it. */
const send = (reply: Reply): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(reply, undefined, {}, () => resolve());
    else resolve();
  });

async function answer(id: number, programs: Programs): Promise<void> {
  if (opened === undefined) throw new Error('asked for a run before it was opened');
  const executor = await opened;
  const runs = await runsOf(executor, programs);
  await send({ id, runs, cpuSeconds: executor.cpuSeconds() + ownSeconds() });
}

async function close(): Promise<void> {
  await (await opened)?.close();
  await Promise.all(underWay);
  process.exit();
}

process.on('message', (request: Request) => {
  if (request.ask === 'open') {
    opened = createBubblewrap(request.limits).catch((cause) => broken('bubblewrap', cause));
  } else if (request.ask === 'run') {
    const answered = answer(request.id, request.programs).finally(() => underWay.delete(answered));
    underWay.add(answered);
  } else void close();
});
process.once('disconnect', () => void close());
// A signal to the whole group is for the process that started us, which says when to close.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
