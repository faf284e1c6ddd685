import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { OrtError } from '../../../runner/engine/ort/ort-error.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { matMulModel } from '../../support/tiny-models.ts';
import { runtimeCases } from './runtime-cases.ts';

runtimeCases({ name: 'c-api', provider: 'cpu' });

const script = (name: string) => join(import.meta.dirname, name);

describe('the C API', () => {
  let runtime: Runtime;
  const scope = new Scope();

  beforeAll(() => {
    runtime = scope.own(createRuntime({ threads: 2, binding: 'c-api' }));
  });
  afterAll(() => scope[Symbol.dispose]());

  it('keeps the event loop turning during a run', async () => {
    const size = 1_024;
    const model = scope.own(await runtime.createSession(matMulModel(size, size, size)));
    const a = scope.own(runtime.tensor('float32', [size, size]));
    const y = scope.own(runtime.tensor('float32', [size, size]));
    const binding = scope.own(model.bind({ a, b: a }, { y }));
    let done = false;
    const run = binding.run().finally(() => (done = true));
    let turns = 0;
    for (; !done; turns += 1) await setImmediate();
    await run;
    expect(turns).toBeGreaterThan(20);
  });

  it('wraps memory without a copy: a result is there before anything is read back', async () => {
    const memory = new Float32Array(8);
    const y = scope.own(runtime.tensor('float32', [2, 2], memory.subarray(2, 6)));
    const a = scope.own(runtime.tensor('float32', [2, 2], Float32Array.of(1, 2, 3, 4)));
    const model = scope.own(await runtime.createSession(matMulModel(2, 2, 2)));
    scope.own(model.bind({ a, b: a }, { y })).runSync();
    expect(memory).toEqual(Float32Array.of(0, 0, 7, 10, 15, 22, 0, 0));
  });

  it("carries ONNX Runtime's error code", async () => {
    const error: unknown = await runtime.createSession(Uint8Array.of(1)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(OrtError);
    expect(error).toMatchObject({ code: 'INVALID_PROTOBUF' });
  });

  it('survives forced collections of everything that its user let go of', () => {
    const args = ['--expose-gc', script('forced-gc.ts')];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('survived\n');
  });

  it('lets the process leave while a run is going', () => {
    const { status, signal } = spawnSync(process.execPath, [script('exit-while-running.ts'), 'cpu', 'alive']);
    expect({ status, signal }).toEqual({ status: 7, signal: null });
  });
});
