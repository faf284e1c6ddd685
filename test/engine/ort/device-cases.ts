// What a runtime on a device must do beside what every runtime does (runtime-cases.ts): keep tensors there, change them
// in place, and take turns.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import type {
  DType,
  Runtime,
  SessionOptions,
  Tensor,
  TensorData,
} from '../../../runner/engine/ort/runtime.ts';
import { addModel, tinyModel } from '../../support/tiny-models.ts';

const nothing = { sessions: 0, tensors: 0, bindings: 0 };
const float32 = (...values: number[]) => Float32Array.from(values);

/** Two outputs that exchange what two inputs hold, each plus 1. */
const exchangeModel = (size: number): Uint8Array =>
  tinyModel(
    [
      { op: 'Add', inputs: ['b', 'one'], outputs: ['to_a'] },
      { op: 'Add', inputs: ['a', 'one'], outputs: ['to_b'] },
    ],
    [
      { name: 'a', dims: [size] },
      { name: 'b', dims: [size] },
      { name: 'one', dims: [1] },
    ],
    [
      { name: 'to_a', dims: [size] },
      { name: 'to_b', dims: [size] },
    ],
  );

export function deviceCases(create: () => Runtime): void {
  describe('tensors of a device', () => {
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

    const host = (data: Float32Array) => scope.own(runtime.tensor('float32', [data.length], data));
    const device = (dtype: DType, dims: readonly number[]) => scope.own(runtime.allocate(dtype, dims));
    async function filled(...values: number[]): Promise<Tensor> {
      const tensor = device('float32', [values.length]);
      await tensor.write(float32(...values));
      return tensor;
    }
    /** A binding of y = x + d. */
    async function adding(x: Tensor, d: Tensor, y: Tensor, options: SessionOptions = { label: 'add' }) {
      const add = scope.own(await runtime.createSession(addModel(x.dims, x.dtype), options));
      return scope.own(add.bind({ x, d }, { y }));
    }

    it('lie there, and say so', () => {
      const x = device('float32', [2]);
      expect(x.location).toBe('device');
      expect(() => x.data).toThrow('device tensor float32[2] lies on the device: await its read() instead');
      expect(runtime.tensor('float32', [1])[Symbol.dispose]()).toBeUndefined();
    });

    it('are zeros whatever their memory held before', async () => {
      for (let life = 0; life < 10; life += 1) {
        const own = new Scope();
        const tensor = own.own(runtime.allocate('float32', [1_000]));
        expect(await tensor.read()).toEqual(new Float32Array(1_000));
        await tensor.write(new Float32Array(1_000).fill(7));
        own[Symbol.dispose]();
      }
      const read = await filled(1, 1, 1);
      const y = device('float32', [3]);
      (await adding(read, device('float32', [3]), y)).runSync();
      expect(await y.read()).toEqual(float32(1, 1, 1));
    });

    it.each<[DType, TensorData]>([
      ['float32', float32(NaN, -0, 1e-45, Infinity, 3)],
      ['float64', Float64Array.of(0.1, NaN, -1e300)],
      ['float16', Uint16Array.of(1, 0x7e01, 0xffff)],
      ['bfloat16', Uint16Array.of(0xffff, 2, 0x7f81, 4, 5)],
      ['int32', Int32Array.of(-1, 2 ** 31 - 1)],
      ['int64', BigInt64Array.of(-(2n ** 63n), 5n, 2n ** 60n)],
      ['bool', Uint8Array.of(1, 0, 1, 1, 0)],
    ])('of %s give back the bits that were written', async (dtype, data) => {
      const tensor = device(dtype, [data.length]);
      await tensor.write(data);
      const bits = (array: TensorData) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      expect(bits(await tensor.read())).toEqual(bits(data));
      await tensor.zero();
      expect(bits(await tensor.read())).toEqual(new Uint8Array(data.byteLength));
    });

    it('may be empty, or a scalar', async () => {
      const empty = device('float32', [0, 4]);
      await empty.write(float32());
      await empty.zero();
      expect(await empty.read()).toEqual(float32());
      const scalar = device('float32', []);
      await scalar.write(float32(3));
      expect(await scalar.read()).toEqual(float32(3));
    });

    it('refuse data of another type or size', async () => {
      const x = device('float32', [2]);
      await expect(x.write(float32(1))).rejects.toThrow('tensor float32[2]: needs 2 elements, got 1');
      await expect(x.write(new Float64Array(2))).rejects.toThrow('needs a Float32Array');
      expect(() => runtime.allocate('float32', [-1])).toThrow('dimensions must be integers of at least 0');
    });

    it('meet live host tensors on either side of a session', async () => {
      const x = await filled(1, 2);
      const d = host(float32(10, 20));
      const y = host(float32(0, 0));
      const binding = await adding(x, d, y);
      binding.runSync();
      expect(y.data).toEqual(float32(11, 22));
      d.data[1] = 50;
      await x.write(float32(3, 4));
      await binding.run();
      expect(y.data).toEqual(float32(13, 54));
    });

    describe('changed in place', () => {
      it('hold the new contents after each run, for every binding that knows them', async () => {
        const x = await filled(1, 2, 3);
        const seen = host(new Float32Array(3));
        const grow = await adding(x, host(float32(1, 1, 1)), x);
        const look = await adding(x, host(float32(0, 0, 0)), seen);
        for (let run = 1; run <= 5; run += 1) {
          if (run % 2 === 0) grow.runSync();
          else await grow.run();
          look.runSync();
          expect(seen.data).toEqual(float32(1 + run, 2 + run, 3 + run));
        }
        expect(await x.read()).toEqual(float32(6, 7, 8));
        await x.write(float32(0, 0, 0));
        grow.runSync();
        expect(await x.read()).toEqual(float32(1, 1, 1));
      });

      it('share spare buffers: several of one size in one run, then others', async () => {
        const [a, b] = [await filled(1, 2), await filled(10, 20)];
        const session = scope.own(await runtime.createSession(exchangeModel(2)));
        const binding = scope.own(session.bind({ a, b, one: host(float32(1)) }, { to_a: a, to_b: b }));
        for (let run = 0; run < 3; run += 1) binding.runSync();
        expect([await a.read(), await b.read()]).toEqual([float32(13, 23), float32(4, 5)]);
        const others = await Promise.all([filled(5, 5), filled(6, 6)]);
        for (const other of others) (await adding(other, host(float32(1, 1)), other)).runSync();
        expect(await Promise.all(others.map((other) => other.read()))).toEqual([
          float32(6, 6),
          float32(7, 7),
        ]);
        expect([await a.read(), await b.read()]).toEqual([float32(13, 23), float32(4, 5)]);
      });

      it('keep what they held where the run fails', async () => {
        const add = scope.own(await runtime.createSession(addModel([undefined]), { label: 'adder' }));
        const [x, d] = [await filled(1, 2, 3), await filled(1, 1)];
        const binding = scope.own(add.bind({ x, d }, { y: x }));
        expect(() => binding.runSync()).toThrow(/^adder: /);
        await expect(binding.run()).rejects.toThrow(/^adder: /);
        expect(await x.read()).toEqual(float32(1, 2, 3));
        scope.own(add.bind({ x, d: x }, { y: x })).runSync();
        expect(await x.read()).toEqual(float32(2, 4, 6));
      });

      it('cannot share a buffer with what a kernel reads: why the contents move', async () => {
        const x = await filled(1, 2, 3);
        const binding = await adding(x, host(float32(1, 1, 1)), x, { sharedBuffers: true, label: 'aliased' });
        await expect(binding.run()).rejects.toThrow(/^aliased: /);
      });
    });

    describe('take turns', () => {
      it('in the order in which runs, reads and writes were asked for', async () => {
        const x = await filled(0, 0);
        const grow = await adding(x, host(float32(1, 1)), x);
        const double = await adding(x, x, x);
        const asked = [
          grow.run(),
          x.read(),
          double.run(),
          x.read(),
          x.write(float32(9, 9)),
          x.read(),
          x.zero(),
        ];
        const results = (await Promise.all(asked)).filter((result) => result !== undefined);
        expect(results).toEqual([float32(1, 1), float32(2, 2), float32(9, 9)]);
        expect(await x.read()).toEqual(float32(0, 0));
      });

      it('so a run at once is refused while one is going, and allocation is not', async () => {
        const x = await filled(1, 1);
        const [grow, look] = [await adding(x, x, x), await adding(x, x, host(float32(0, 0)))];
        const run = grow.run();
        expect(() => look.runSync()).toThrow('add: a run is going on the device');
        const fresh = device('float32', [64]);
        await run;
        look.runSync();
        expect(await fresh.read()).toEqual(new Float32Array(64));
      });

      it('and models may be compiled and tensors come and go while others run', async () => {
        const x = await filled(...Array.from({ length: 64 }, () => 0));
        const grow = await adding(x, host(new Float32Array(64).fill(1)), x);
        const others = Array.from({ length: 20 }, async (_, i) => {
          const own = new Scope();
          const size = i + 1;
          const tensor = own.own(runtime.allocate('float32', [size]));
          const add = own.own(await runtime.createSession(addModel([size])));
          const y = own.own(runtime.allocate('float32', [size]));
          await tensor.write(new Float32Array(size).fill(size));
          await own.own(add.bind({ x: tensor, d: tensor }, { y })).run();
          expect(await y.read()).toEqual(new Float32Array(size).fill(2 * size));
          own[Symbol.dispose]();
        });
        for (let run = 0; run < 50; run += 1) await grow.run();
        await Promise.all(others);
        expect(await x.read()).toEqual(new Float32Array(64).fill(50));
      });
    });

    describe('go', () => {
      it('in any order, a binding keeping what it uses', async () => {
        const add = await runtime.createSession(addModel([2]));
        const x = runtime.allocate('float32', [2]);
        const binding = scope.own(add.bind({ x, d: x }, { y: x }));
        binding.runSync();
        x[Symbol.dispose]();
        x[Symbol.dispose]();
        add[Symbol.dispose]();
        expect(runtime.stats()).toEqual({ sessions: 1, tensors: 1, bindings: 1 });
        expect(() => binding.runSync()).toThrow('session: the session was disposed');
        await expect(x.read()).rejects.toThrow('device tensor float32[2] was disposed');
      });

      it('after a run that was going, and after a read', async () => {
        const size = 100_000;
        const x = runtime.allocate('float32', [size]);
        const add = await runtime.createSession(addModel([size]));
        const result = runtime.tensor('float32', [size]);
        const { data } = result;
        await x.write(new Float32Array(size).fill(1));
        const binding = add.bind({ x, d: x }, { y: result });
        const [run, read] = [binding.run(), x.read()];
        for (const object of [x, result, binding, add]) object[Symbol.dispose]();
        await run;
        expect(await read).toEqual(new Float32Array(size).fill(1));
        expect(data).toEqual(new Float32Array(size).fill(2));
      });

      it('after their runtime too', async () => {
        const short = create();
        const x = short.allocate('float32', [2]);
        const add = await short.createSession(addModel([2]));
        const binding = add.bind({ x, d: x }, { y: x });
        short[Symbol.dispose]();
        expect(() => short.allocate('float32', [2])).toThrow('the runtime was disposed');
        binding.runSync();
        expect(await x.read()).toEqual(float32(0, 0));
        for (const object of [add, binding, x]) object[Symbol.dispose]();
        expect(short.stats()).toEqual(nothing);
      });
    });
  });
}
