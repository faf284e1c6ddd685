// Run by c-api.test.ts and webgpu.test.ts as a process of its own, with --expose-gc: a dangling pointer kills it.
// Collects garbage as often as it can while native code runs on memory that JavaScript has let go of.
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { ortLibrary } from '../../../runner/engine/ort/library.ts';
import type { Binding, Runtime, Tensor } from '../../../runner/engine/ort/runtime.ts';
import { addModel, matMulModel } from '../../support/tiny-models.ts';

const collect = globalThis.gc;
if (collect === undefined) throw new Error('run with --expose-gc');

// Before its first call too: afterwards the library's thread-local data keeps it mapped anyhow.
ortLibrary();
for (let round = 0; round < 20; round += 1) {
  collect();
  await new Promise((resolve) => setImmediate(resolve));
}

const provider = process.argv[2] === 'webgpu' ? 'webgpu' : 'cpu';
const runtime = createRuntime({ threads: 2, binding: 'c-api', provider });

/** Only the binding and the result are returned: session and inputs become garbage. */
async function bindAndForget(runtime: Runtime, size: number): Promise<[Binding, Tensor]> {
  const add = await runtime.createSession(addModel([size]), { label: `add ${size}` });
  const x = runtime.tensor('float32', [size], new Float32Array(size).fill(1));
  const d = runtime.tensor('float32', [size], new Float32Array(size).fill(2));
  const y = runtime.tensor('float32', [size]);
  return [add.bind({ x, d }, { y }), y];
}

/** Reuses freed memory, so that a dangling pointer reads something else. */
function churn(): void {
  collect!();
  for (let i = 0; i < 50; i += 1) new Float32Array(1 + i * 40).fill(-7);
}

async function churnWhile(work: Promise<unknown>): Promise<void> {
  let done = false;
  const end = work.finally(() => (done = true));
  while (!done) {
    churn();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await end;
}

function expectAll(tensor: Tensor, value: number): void {
  for (const element of tensor.data) {
    if (element !== value) throw new Error(`${element} where ${value} was expected`);
  }
}

for (const size of [1, 2, 15, 17, 1_000, 300_000]) {
  const [binding, y] = await bindAndForget(runtime, size);
  for (let round = 0; round < 10; round += 1) {
    churn();
    y.data.fill(0 as never);
    if (round % 2 === 0) binding.runSync();
    else await churnWhile(binding.run());
    expectAll(y, 3);
  }
}

// The binding too is dropped while its run is going.
async function startAndForget(): Promise<[Promise<void>, Float32Array]> {
  const size = 512;
  const model = await runtime.createSession(matMulModel(size, size, size));
  const ones = () => new Float32Array(size * size).fill(1);
  const a = runtime.tensor('float32', [size, size], ones());
  const b = runtime.tensor('float32', [size, size], ones());
  const result = new Float32Array(size * size);
  const y = runtime.tensor('float32', [size, size], result);
  return [model.bind({ a, b }, { y }).run(), result];
}
for (let round = 0; round < 10; round += 1) {
  const [run, result] = await startAndForget();
  await churnWhile(run);
  if (!result.every((element) => element === 512)) throw new Error('a product is wrong');
}

// And a tensor that is changed where it lies: on a device its buffers take turns.
async function bindInPlaceAndForget(size: number): Promise<[Binding, Tensor]> {
  const add = await runtime.createSession(addModel([size]), { label: `in place ${size}` });
  const x = runtime.allocate('float32', [size]);
  const d = runtime.allocate('float32', [size]);
  await d.write(new Float32Array(size).fill(1));
  return [add.bind({ x, d }, { y: x }), x];
}
for (const size of [1, 17, 100_000]) {
  const [binding, x] = await bindInPlaceAndForget(size);
  for (let round = 1; round <= 10; round += 1) {
    churn();
    if (round % 2 === 0) binding.runSync();
    else await churnWhile(binding.run());
    const read = x.read();
    await churnWhile(read);
    if (!(await read).every((element) => element === round)) throw new Error(`round ${round} is wrong`);
  }
}
console.log('survived');
