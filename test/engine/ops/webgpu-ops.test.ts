// Every op on WebGPU, forward and backward, against the values of the CPU. No node may fall back to the CPU and every
// dispatch is checked. What cannot run there is listed by name, with the reason, and must indeed be refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { evaluate } from '../graph/compiled-graph.ts';
import { elementCases } from './element-op-cases.ts';
import { expectClose } from './expect-grad.ts';
import { modelCases } from './model-op-cases.ts';
import { buildCase } from './op-case.ts';

const tolerance = 1e-3;

describe.skipIf(noWebgpu)(`ops on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  let cpu: Runtime;
  let webgpu: Runtime;
  beforeAll(() => {
    cpu = createRuntime({ threads: 2 });
    webgpu = webgpuRuntime();
  });
  afterAll(() => {
    for (const runtime of [webgpu, cpu]) runtime[Symbol.dispose]();
  });

  it.each([...elementCases, ...modelCases])('$name', async (opCase) => {
    const { graph, feeds } = buildCase(opCase, 'small', 'float32');
    const expected = await evaluate(cpu, graph, feeds);
    const found = await evaluate(webgpu, graph, feeds);
    for (const [name, data] of Object.entries(found)) {
      expectClose(data, expected[name]!, opCase.tolerance ?? tolerance, name);
    }
  });
});
