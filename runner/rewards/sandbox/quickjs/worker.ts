// The thread in which one program runs in QuickJS. The program sees the language and `host`, nothing of Node.js. The thread
// keeps no time: whoever started it ends it from outside, because QuickJS looks at no clock while it collects garbage.
import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { QuickJSContext } from 'quickjs-emscripten';
import { getQuickJS } from 'quickjs-emscripten';
import type { WorkerData, WorkerMessage } from './channel.ts';
import { receive, wake } from './channel.ts';

/** With 512 KiB a deep recursion overflows the stack of the host first and takes the thread with it. */
const STACK_BYTES = 128 * 1024;

const { language, main, stdin, limits, clock, peer } = workerData as WorkerData;
const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

/** Of this thread; Node.js before 22.19 cannot say, and all of it is then taken to be the time since the thread began. */
function cpuSeconds(): number {
  if (process.threadCpuUsage === undefined) return performance.now() / 1000;
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
}

class OverLimit extends Error {}

const written: Record<number, number> = { 1: 0, 2: 0, 3: 0, 4: 0 };
const isDescriptor = (descriptor: number): descriptor is 1 | 2 | 3 | 4 => descriptor in written;

function write(descriptor: number, text: string): void {
  if (!isDescriptor(descriptor)) throw new Error(`no descriptor ${descriptor} to write to`);
  const room = limits.outputBytes - (written[descriptor] ?? 0);
  const bytes = Buffer.byteLength(text);
  written[descriptor] = (written[descriptor] ?? 0) + bytes;
  const kept = bytes > room ? Buffer.from(text).subarray(0, room).toString() : text;
  if (descriptor !== 4) tell({ type: 'wrote', descriptor, text: kept });
  else if (peer !== undefined) {
    peer.port.postMessage(kept);
    wake(peer.theirs);
  }
  if (bytes > room) throw new OverLimit('more output than allowed');
}

let unread = '';
function readLine(): string | undefined {
  for (;;) {
    const end = unread.indexOf('\n');
    if (end >= 0) {
      const line = unread.slice(0, end);
      unread = unread.slice(end + 1);
      return line;
    }
    const more = peer === undefined ? undefined : receive(peer, clock);
    if (more === undefined) {
      const rest = unread;
      unread = '';
      return rest === '' ? undefined : rest;
    }
    unread += more;
  }
}

function defineHost(context: QuickJSContext): void {
  const host = context.newObject();
  const define = (name: string, body: Parameters<QuickJSContext['newFunction']>[1]) =>
    context.newFunction(name, body).consume((method) => context.setProp(host, name, method));
  define('stdin', () => context.newString(stdin));
  define('readLine', () => {
    const line = readLine();
    return line === undefined ? context.undefined : context.newString(line);
  });
  define('write', (descriptor, text) => {
    try {
      write(context.getNumber(descriptor ?? context.undefined), context.getString(text ?? context.undefined));
    } catch (error) {
      if (!(error instanceof OverLimit)) throw error;
      // Stops here: the program must not catch it and go on.
      tell({ type: 'over' });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return context.undefined;
  });
  context.setProp(context.global, 'host', host);
  host.dispose();
}

function complaintOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { name, message, stack } = error as Record<string, unknown>;
  return `${String(name)}: ${String(message)}\n${String(stack ?? '')}`;
}

/** What was thrown and not caught, as text. */
function evaluate(context: QuickJSContext): string | undefined {
  let source = main;
  try {
    if (language === 'typescript') source = stripTypeScriptTypes(main, { mode: 'transform' });
  } catch (error) {
    return complaintOf(error);
  }
  const result = context.evalCode(source, 'main.js', { type: 'global' });
  if (result.error) return complaintOf(context.dump(result.error));
  result.value.dispose();
  const jobs = context.runtime.executePendingJobs();
  return jobs.error ? complaintOf(context.dump(jobs.error)) : undefined;
}

const quickjs = await getQuickJS();
const runtime = quickjs.newRuntime();
runtime.setMemoryLimit(limits.memoryBytes);
runtime.setMaxStackSize(STACK_BYTES);
const context = runtime.newContext();
defineHost(context);
tell({ type: 'started', cpuSeconds: cpuSeconds() });
const complaint = evaluate(context);
if (complaint !== undefined) write(2, `${complaint}\n`.slice(0, limits.outputBytes));
tell({ type: 'exited', code: complaint === undefined ? 0 : 1, cpuSeconds: cpuSeconds() });
