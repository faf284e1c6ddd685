// Every op: gradient by finite differences, bitwise repeatability where kernels run in parallel, and a registry
// check that no op escapes both.
import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { definedOps } from '../../../runner/engine/graph/op.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { CompiledGraph } from '../graph/compiled-graph.ts';
import { expectGrad } from './expect-grad.ts';
import { halfCases } from './half-op-cases.ts';
import { modelCases } from './model-op-cases.ts';
import { buildCase } from './op-case.ts';
import { elementCases } from './element-op-cases.ts';

const runtime = createRuntime({ threads: 2 });
const cases = [...elementCases, ...modelCases, ...halfCases];

afterAll(() => {
  const live = runtime.stats();
  runtime[Symbol.dispose]();
  expect(live).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
});

describe('gradient equals central differences, float32 equals float64', () => {
  it.each(cases)('$name', (opCase) => expectGrad(runtime, opCase));
});

describe('five runs at a size that goes parallel are bitwise equal', () => {
  it.each(cases)('$name', async (opCase) => {
    const built = buildCase(opCase, 'large', 'float32');
    using compiled = await CompiledGraph.compile(runtime, built.graph, opCase.name);
    compiled.feed(built.feeds);
    compiled.run();
    const first = compiled.outputs();
    for (let run = 1; run < 5; run++) {
      compiled.run();
      for (const [name, data] of Object.entries(first)) {
        const same = Buffer.compare(bytes(compiled.output(name)), bytes(data)) === 0;
        expect(same, `${name} of run ${run} equals that of run 0`).toBe(true);
      }
    }
  });
});

describe('registry', () => {
  it('every op is in a case, and every op that claims a gradient is differentiated in one', async () => {
    const folder = new URL('../../../runner/engine/ops/', import.meta.url);
    for (const file of readdirSync(folder)) await import(new URL(file, folder).href);
    const [built, differentiated] = [new Set<string>(), new Set<string>()];
    for (const opCase of cases) {
      const { graph, differentiated: names } = buildCase(opCase, 'small', 'float32');
      const wanted = new Set(names.map((name) => graph.inputs.get(name)));
      for (const { op, inputs, outputs } of graph.nodes) {
        built.add(op.name);
        if (!inputs.some((input) => wanted.has(input))) continue;
        differentiated.add(op.name);
        for (const output of outputs) wanted.add(output);
      }
    }
    const ops = definedOps();
    const untested = ops.filter((op) => !built.has(op.name)).map((op) => op.name);
    const unchecked = ops.filter((op) => 'rule' in op.gradient && !differentiated.has(op.name));
    expect(untested).toEqual([]);
    expect(unchecked.map((op) => op.name)).toEqual([]);
  });
});

const bytes = (data: ArrayBufferView): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
