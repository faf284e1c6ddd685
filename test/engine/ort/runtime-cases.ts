// What every runtime must do, whichever way it takes to ONNX Runtime.
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import type { Runtime, Tensor } from '../../../runner/engine/ort/runtime.ts';
import { addModel, matMulModel, tinyModel } from '../../support/tiny-models.ts';

const nothing = { sessions: 0, tensors: 0, bindings: 0 };
const float32 = (...values: number[]) => Float32Array.from(values);

/** `create` makes a runtime of that name, provider and 2 threads at every call. */
export function runtimeCases(
  { name, provider }: Pick<Runtime, 'name' | 'provider'>,
  create: () => Runtime = () => createRuntime({ threads: 2, binding: name, provider }),
): void {
  describe(`runtime ${name} on ${provider}`, () => {
    let runtime: Runtime;
    let scope: Scope;

    beforeAll(() => {
      runtime = create();
    });
    afterAll(() => runtime[Symbol.dispose]());
    beforeEach(() => {
      scope = new Scope();
    });
    afterEach(() => {
      scope[Symbol.dispose]();
      expect(runtime.stats()).toEqual(nothing);
    });

    const tensor = (...args: Parameters<Runtime['tensor']>) => scope.own(runtime.tensor(...args));
    const session = async (...args: Parameters<Runtime['createSession']>) =>
      scope.own(await runtime.createSession(...args));

    async function boundAdd(
      x: Tensor,
      d: Tensor,
      y: Tensor,
      label?: string,
    ): Promise<ReturnType<typeof bind>> {
      const add = await session(addModel(x.dims, x.dtype), { label: label ?? 'add' });
      return bind(add, x, d, y);
    }
    const bind = (add: Awaited<ReturnType<typeof session>>, x: Tensor, d: Tensor, y: Tensor) =>
      scope.own(add.bind({ x, d }, { y }));

    it('says what it is', () => {
      expect(runtime).toMatchObject({ name, provider, version: '1.30.0', threads: 2 });
    });

    it('allocates where it computes: zeros, which can be written, read and zeroed again', async () => {
      const x = scope.own(runtime.allocate('float32', [3]));
      expect(await x.read()).toEqual(float32(0, 0, 0));
      await x.write(float32(1, 2, 3));
      expect(await x.read()).toEqual(float32(1, 2, 3));
      await x.zero();
      expect(await x.read()).toEqual(float32(0, 0, 0));
    });

    describe('runs', () => {
      it('multiplies matrices, on this thread and off it, from live inputs', async () => {
        const model = await session(matMulModel(2, 3, 2));
        expect([model.inputNames, model.outputNames]).toEqual([['a', 'b'], ['y']]);
        const a = tensor('float32', [2, 3], float32(1, 2, 3, 4, 5, 6));
        const b = tensor('float32', [3, 2], float32(1, 0, 0, 1, 1, 1));
        const y = tensor('float32', [2, 2]);
        const binding = scope.own(model.bind({ a, b }, { y }));
        binding.runSync();
        expect(y.data).toEqual(float32(4, 5, 10, 11));
        a.data[0] = 10;
        await binding.run();
        expect(y.data).toEqual(float32(13, 5, 10, 11));
      });

      it('writes an output over an input', async () => {
        const x = tensor('float32', [3], float32(1, 2, 3));
        const binding = await boundAdd(x, tensor('float32', [3], float32(1, 1, 1)), x);
        binding.runSync();
        await binding.run();
        expect(x.data).toEqual(float32(3, 4, 5));
      });

      it('reads and writes inside a larger buffer and leaves its neighbours alone', async () => {
        const arena = new Float32Array(1_000).fill(-1);
        const x = tensor('float32', [2], arena.subarray(101, 103));
        const d = tensor('float32', [2], arena.subarray(501, 503));
        const y = tensor('float32', [2], arena.subarray(903, 905));
        x.data.set([1, 2] as never);
        d.data.set([10, 20] as never);
        (await boundAdd(x, d, y)).runSync();
        const expected = new Float32Array(1_000).fill(-1);
        expected.set([1, 2], 101);
        expected.set([10, 20], 501);
        expected.set([11, 22], 903);
        expect(arena).toEqual(expected);
      });

      it.each([
        ['float64', new Float64Array([0.1, 1e300]), new Float64Array([0.2, 2e300])],
        ['int32', new Int32Array([-1, 2_000_000]), new Int32Array([-2, 4_000_000])],
        ['int64', new BigInt64Array([-1n, 2n ** 60n]), new BigInt64Array([-2n, 2n ** 61n])],
      ] as const)('adds %s exactly, or says that the device has no kernel', async (dtype, data, doubled) => {
        if (provider === 'webgpu' && dtype !== 'int32') {
          await expect(session(addModel([2], dtype))).rejects.toThrow(
            'fallback to CPU EP has been explicitly disabled',
          );
          return;
        }
        const x = tensor(dtype, [2], data);
        const y = tensor(dtype, [2]);
        (await boundAdd(x, x, y)).runSync();
        expect(y.data).toEqual(doubled);
      });

      it('negates booleans', async () => {
        const model = await session(
          tinyModel(
            [{ op: 'Not', inputs: ['x'], outputs: ['y'] }],
            [{ name: 'x', dtype: 'bool', dims: [3] }],
            [{ name: 'y', dtype: 'bool', dims: [3] }],
          ),
        );
        const x = tensor('bool', [3], Uint8Array.of(1, 0, 1));
        const y = tensor('bool', [3]);
        scope.own(model.bind({ x }, { y })).runSync();
        expect(y.data).toEqual(Uint8Array.of(0, 1, 0));
      });

      it('runs scalars and one-element tensors', async () => {
        for (const dims of [[], [1], [1, 1, 1]]) {
          const x = tensor('float32', dims, float32(2));
          const y = tensor('float32', dims);
          (await boundAdd(x, x, y)).runSync();
          expect(y.data).toEqual(float32(4));
        }
      });

      it('runs empty tensors', async () => {
        const x = tensor('float32', [0, 4]);
        const y = tensor('float32', [0, 4]);
        await (await boundAdd(x, x, y)).run();
        expect(y.data).toEqual(float32());
      });

      it('serves one session with several bindings of different sizes at the same time', async () => {
        const add = await session(addModel([undefined]));
        const bound = [1, 70, 5_000].map((size) => {
          const x = tensor('float32', [size], new Float32Array(size).fill(size));
          const y = tensor('float32', [size]);
          return { binding: bind(add, x, x, y), size, y };
        });
        await Promise.all(bound.map(({ binding }) => binding.run()));
        for (const { size, y } of bound) expect(y.data).toEqual(new Float32Array(size).fill(2 * size));
      });

      it('leaves out named optimizers without changing the result', async () => {
        const disabledOptimizers = ['CommonSubexpressionElimination', 'ConstantFolding'];
        const add = await session(addModel([2]), { disabledOptimizers });
        const x = tensor('float32', [2], float32(1, 2));
        const y = tensor('float32', [2]);
        bind(add, x, x, y).runSync();
        expect(y.data).toEqual(float32(2, 4));
      });
    });

    describe('refuses', () => {
      it('data that is not what dtype and dims say', () => {
        expect(() => tensor('float32', [2], new Float64Array(2) as never)).toThrow(
          'tensor float32[2]: needs a Float32Array, got a Float64Array',
        );
        expect(() => tensor('float32', [2, 3], new Float32Array(5))).toThrow(
          'tensor float32[2, 3]: needs 6 elements, got 5',
        );
        expect(() => tensor('float32', [-1])).toThrow('dimensions must be integers of at least 0');
        expect(() => tensor('float32', [1.5])).toThrow('dimensions must be integers of at least 0');
      });

      it('memory that can shrink under native code', () => {
        const buffer = new ArrayBuffer(256, { maxByteLength: 512 });
        expect(() => tensor('float32', [64], new Float32Array(buffer, 0, 64))).toThrow(
          'must not be resizable',
        );
      });

      it('missing and unknown names', async () => {
        const add = await session(addModel([2]), { label: 'adder' });
        const x = tensor('float32', [2]);
        expect(() => add.bind({ x, e: x }, { y: x })).toThrow(
          'adder: inputs to bind: missing d; unknown e (the model has x, d)',
        );
        expect(() => add.bind({ x, d: x }, {})).toThrow('adder: outputs to bind: missing y');
        expect(() => add.bind({ x, d: x, toString: x }, { y: x })).toThrow('unknown toString');
      });

      it('tensors of another type or shape than the model has, on either side', async () => {
        const add = await session(addModel([2, undefined]), { label: 'adder' });
        const x = tensor('float32', [2, 5]);
        const wrongType = tensor('float64', [2, 5]);
        const wrongShape = tensor('float32', [3, 5]);
        const wrongRank = tensor('float32', [10]);
        expect(() => add.bind({ x, d: wrongType }, { y: x })).toThrow(
          'adder: input d is float32[2, ?] in the model, the tensor is float64[2, 5]',
        );
        expect(() => add.bind({ x, d: x }, { y: wrongShape })).toThrow(
          'adder: output y is float32[2, ?] in the model, the tensor is float32[3, 5]',
        );
        expect(() => add.bind({ x: wrongRank, d: x }, { y: x })).toThrow('input x is float32[2, ?]');
      });

      it('an output whose open dimension turns out otherwise at run, and runs on afterwards', async () => {
        const add = await session(addModel([undefined]), { label: 'adder' });
        const x = tensor('float32', [4], float32(1, 2, 3, 4));
        const short = bind(add, x, x, tensor('float32', [3]));
        expect(() => short.runSync()).toThrow(/^adder: /);
        await expect(short.run()).rejects.toThrow(/^adder: /);
        const y = tensor('float32', [4]);
        bind(add, x, x, y).runSync();
        expect(y.data).toEqual(float32(2, 4, 6, 8));
      });

      it('bytes that are no model, and models that make no sense', async () => {
        await expect(session(Uint8Array.of(1, 2, 3), { label: 'torn' })).rejects.toThrow(/^torn: .*protobuf/);
        await expect(session(new Uint8Array(0), { label: 'void' })).rejects.toThrow(/^void: /);
        const unknownOp = tinyModel(
          [{ op: 'Nonsense', inputs: ['x'], outputs: ['y'] }],
          [{ name: 'x', dims: [1] }],
          [{ name: 'y', dims: [1] }],
        );
        await expect(session(unknownOp, { label: 'odd' })).rejects.toThrow(/^odd: .*Nonsense/);
      });

      it('tensors of another runtime', async () => {
        const other = scope.own(create());
        const stranger = scope.own(other.tensor('float32', [2]));
        const add = await session(addModel([2]));
        const x = tensor('float32', [2]);
        expect(() => add.bind({ x: stranger, d: x }, { y: x })).toThrow(
          'input x: the tensor was made by another runtime',
        );
      });

      it('a second run while one is going', async () => {
        const x = tensor('float32', [2]);
        const binding = await boundAdd(x, x, tensor('float32', [2]));
        const first = binding.run();
        await expect(binding.run()).rejects.toThrow('add: the binding is running');
        expect(() => binding.runSync()).toThrow('add: the binding is running');
        await first;
        await binding.run();
      });
    });

    describe('disposal', () => {
      it('counts what lives and may be repeated', async () => {
        const add = await runtime.createSession(addModel([2]));
        const x = runtime.tensor('float32', [2]);
        const binding = add.bind({ x, d: x }, { y: x });
        expect(runtime.stats()).toEqual({ sessions: 1, tensors: 1, bindings: 1 });
        for (const object of [binding, binding, x, x, add, add]) object[Symbol.dispose]();
        expect(runtime.stats()).toEqual(nothing);
      });

      it('keeps what a binding uses until the binding goes, in any order', async () => {
        const add = await runtime.createSession(addModel([2]));
        const x = runtime.tensor('float32', [2]);
        const binding = scope.own(add.bind({ x, d: x }, { y: x }));
        x[Symbol.dispose]();
        add[Symbol.dispose]();
        expect(runtime.stats()).toEqual({ sessions: 1, tensors: 1, bindings: 1 });
        binding[Symbol.dispose]();
        expect(runtime.stats()).toEqual(nothing);
      });

      it('lets a running call end before anything goes', async () => {
        const x = runtime.tensor('float32', [100_000], new Float32Array(100_000).fill(1));
        const add = await runtime.createSession(addModel([100_000]));
        const y = runtime.tensor('float32', [100_000]);
        const result = y.data;
        const binding = add.bind({ x, d: x }, { y });
        const run = binding.run();
        for (const object of [x, y, binding, add]) object[Symbol.dispose]();
        await run;
        expect(runtime.stats()).toEqual(nothing);
        expect(result).toEqual(new Float32Array(100_000).fill(2));
      });

      it('refuses use afterwards, by name', async () => {
        const add = await session(addModel([2]), { label: 'adder' });
        const x = tensor('float32', [2]);
        const y = tensor('float32', [2]);
        const binding = bind(add, x, x, y);
        const second = bind(add, x, x, x);
        binding[Symbol.dispose]();
        expect(() => binding.runSync()).toThrow('adder: the binding was disposed');
        await expect(binding.run()).rejects.toThrow('adder: the binding was disposed');
        y[Symbol.dispose]();
        expect(() => y.data).toThrow('tensor float32[2] was disposed');
        expect(() => bind(add, x, x, y)).toThrow('adder: output y: tensor float32[2] was disposed');
        x[Symbol.dispose]();
        expect(() => second.runSync()).toThrow('adder: the tensor bound to x was disposed');
        add[Symbol.dispose]();
        expect(() => second.runSync()).toThrow('adder: the session was disposed');
        expect(() => bind(add, x, x, x)).toThrow('adder: the session was disposed');
      });

      it('of the runtime refuses new work and lets sessions finish theirs', async () => {
        const short = create();
        const add = await short.createSession(addModel([1]));
        const x = short.tensor('float32', [1], float32(3));
        const binding = add.bind({ x, d: x }, { y: x });
        short[Symbol.dispose]();
        short[Symbol.dispose]();
        expect(() => short.tensor('float32', [1])).toThrow('the runtime was disposed');
        await expect(short.createSession(addModel([1]))).rejects.toThrow('the runtime was disposed');
        binding.runSync();
        expect(x.data).toEqual(float32(6));
        for (const object of [binding, x, add]) object[Symbol.dispose]();
        expect(short.stats()).toEqual(nothing);
      });

      it('leaves nothing behind over many lives, failed ones included', async () => {
        for (let life = 0; life < 50; life += 1) {
          const own = new Scope();
          const add = own.own(await runtime.createSession(addModel([undefined])));
          const x = own.own(runtime.tensor('float32', [4]));
          const y = own.own(runtime.tensor('float32', [life % 2 === 0 ? 4 : 3]));
          const binding = own.own(add.bind({ x, d: x }, { y }));
          const failed = await binding.run().then(
            () => false,
            () => true,
          );
          expect(failed).toBe(life % 2 === 1);
          own[Symbol.dispose]();
          expect(runtime.stats()).toEqual(nothing);
        }
      });
    });

    it('lets the event loop turn between two runs', async () => {
      const x = tensor('float32', [2]);
      const binding = await boundAdd(x, x, tensor('float32', [2]));
      let turned = false;
      const turn = setImmediate().then(() => (turned = true));
      for (let run = 0; run < 100 && !turned; run += 1) await binding.run();
      expect(turned).toBe(true);
      await turn;
    });
  });
}
