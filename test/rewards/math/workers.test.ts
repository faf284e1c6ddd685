// Threads under hostile pairs: what a pair costs, whom it holds up, whose fault it is, and that all of it ends.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { getActiveResourcesInfo } from 'node:process';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { mathVerifier } from '../../../runner/rewards/math.ts';
import { MathWorkers } from '../../../runner/rewards/math/workers.ts';
import type { MathWorkersOptions } from '../../../runner/rewards/math/workers.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const made: MathWorkers[] = [];
function workers(options: MathWorkersOptions): MathWorkers {
  const pool = new MathWorkers(options);
  made.push(pool);
  return pool;
}
afterEach(async () => {
  await Promise.all(made.splice(0).map((pool) => pool.close()));
  expect(getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker')).toEqual([]);
});

/** Long enough for the canary on a machine with other things to do. */
const limitMs = 500;
const equal = { gold: '\\sqrt{8}', given: '2\\sqrt{2}' };
const different = { gold: '\\sqrt{8}', given: '2\\sqrt{3}' };
const hostile = [
  { gold: '1', given: '9^{9^{9^{9}}}' },
  { gold: '1', given: '100000!' },
];

it.each(hostile)('$given is too costly, and the pool is as good as before', async (pair) => {
  const pool = workers({ size: 1, limitMs });
  expect(await pool.compare(equal)).toBe('equal');
  expect(await pool.compare(pair)).toBe('too_costly');
  expect(await pool.compare(equal)).toBe('equal');
  expect(await pool.compare(different)).toBe('different');
});

it('a hostile pair holds up no other thread: the rest of the batch is done before its time is over', async () => {
  const pool = workers({ size: 2, limitMs: 3_000 });
  await Promise.all([pool.compare(equal), pool.compare(equal)]);
  const order: string[] = [];
  const asked = [hostile[0]!, ...Array.from({ length: 40 }, () => equal)].map(async (pair) => {
    const verdict = await pool.compare(pair);
    order.push(verdict);
  });
  await Promise.all(asked);
  expect(order).toEqual([...Array.from({ length: 40 }, () => 'equal'), 'too_costly']);
});

it('time in the queue is on no clock', async () => {
  const pool = workers({ size: 1, limitMs });
  const asked = [hostile[0]!, hostile[0]!, equal].map((pair) => pool.compare(pair));
  expect(await Promise.all(asked)).toEqual(['too_costly', 'too_costly', 'equal']);
});

const program = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const port = "import { parentPort as port } from 'node:worker_threads';";

it.each([
  ['never start', "throw new Error('no such package');"],
  ['never answer', `${port} port.on('message', () => undefined); port.postMessage('ready');`],
  ['die of every pair', `${port} port.on('message', () => process.exit(1)); port.postMessage('ready');`],
  ['say nonsense', `${port} port.on('message', () => port.postMessage('?')); port.postMessage('ready');`],
])('threads that %s are our fault', async (_, source) => {
  const pool = workers({ size: 1, limitMs: 200, entry: program(source) });
  expect(await pool.compare(equal)).toBe('down');
  const { grade } = mathVerifier(pool);
  expect(await grade({ prompt: 'p', answer: equal.gold }, `\\boxed{${equal.given}}`)).toMatchObject({
    status: 'unscored',
    code: 'verifier_down',
  });
});

it('a thread that dies of one pair only: tried twice, then the pair’s fault', async () => {
  const source = `${port} port.on('message', ({ gold }) => gold === 'bad' ? process.exit(1) : port.postMessage(true)); port.postMessage('ready');`;
  const pool = workers({ size: 1, limitMs: 2_000, entry: program(source) });
  expect(await pool.compare({ gold: 'bad', given: '1' })).toBe('too_costly');
  expect(await pool.compare(equal)).toBe('equal');
});

it('a thread that died between two pairs is nobody’s fault', async () => {
  const ends = await tempDir('thread-ends');
  const source = `${port} import { writeFileSync } from 'node:fs'; import { threadId } from 'node:worker_threads';
    const end = () => { writeFileSync(${JSON.stringify(ends.path)} + '/' + threadId, ''); process.exit(1); };
    port.on('message', () => { port.postMessage(true); setImmediate(end); }); port.postMessage('ready');`;
  const pool = workers({ size: 1, limitMs: 2_000, entry: program(source) });
  for (let pair = 0; pair < 3; pair++) {
    expect(await pool.compare(equal)).toBe('equal');
    await until(() => readdirSync(ends.path).length > pair, 'the thread ends');
  }
  await ends.remove();
});

it('an answer that came while this thread was kept from reading it is in time', async () => {
  const pool = workers({ size: 1, limitMs });
  await pool.compare(equal);
  const verdict = pool.compare(equal);
  await new Promise((resolve) => setImmediate(resolve)); // the pair is with its thread
  const until = performance.now() + 3 * limitMs;
  while (performance.now() < until);
  expect(await verdict).toBe('equal');
});

it('the verifier calls a pair that costs too much invalid, by the answer’s fault', async () => {
  const { grade } = mathVerifier(workers({ size: 1, limitMs }));
  expect(await grade({ prompt: 'p', answer: '1' }, '\\boxed{100000!}')).toMatchObject({
    status: 'invalid',
    code: 'timeout',
    value: 0,
  });
});

it('what can be decided without algebra needs no thread', async () => {
  const { grade } = mathVerifier(workers({ size: 1, entry: program("throw new Error('not needed');") }));
  for (const [gold, given, value] of [
    ['1000', '1,000', 1],
    ['1/2', '0.5', 1],
    ['7', '8', 0],
    ['(1,2)', '(2,1)', 0],
    ['\\text{east}', '\\text{west}', 0],
    ['x+1', 'x + 1', 1],
  ] as const)
    expect(await grade({ prompt: 'p', answer: gold }, `\\boxed{${given}}`)).toMatchObject({
      status: 'scored',
      value,
    });
});

it('after close every pair is down, one that was under way too', async () => {
  const pool = workers({ size: 1 });
  const underWay = pool.compare(hostile[0]!);
  await pool.close();
  expect(await underWay).toBe('down');
  expect(await pool.compare(equal)).toBe('down');
});

it('closing resolves though nothing else keeps the process', async () => {
  const workers = JSON.stringify(new URL('../../../runner/rewards/math/workers.ts', import.meta.url).href);
  const program = `
    const { MathWorkers } = await import(${workers});
    const pool = new MathWorkers({ size: 1 });
    await pool.compare({ gold: 'x+1', given: '1+x' });
    await pool.close();
    console.log('closed');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout).toBe('closed\n');
});
