// Every op on WebGPU, forward and backward, against the values of the CPU. No node may fall back to the CPU and every
// dispatch is checked. What cannot run there is listed by name, with the reason, and must indeed be refused.
import { describe, expect, it } from 'vitest';
import { besideCpu } from '../../support/beside-cpu.ts';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { evaluate } from '../graph/compiled-graph.ts';
import { elementCases } from './element-op-cases.ts';
import { expectClose } from './expect-grad.ts';
import { modelCases } from './model-op-cases.ts';
import { buildCase } from './op-case.ts';

const tolerance = 1e-3;

/** Cases that WebGPU cannot have, by name. */
const cpuOnly: Readonly<Record<string, string>> = {
  'cast: there and back': 'it passes through float64, which WebGPU does not have',
};

describe.skipIf(noWebgpu)(`ops on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  const both = besideCpu(webgpuRuntime);

  const cases = [...elementCases, ...modelCases];
  const shared = cases.filter(({ name }) => cpuOnly[name] === undefined);

  it.each(shared)('$name', async (opCase) => {
    const { graph, feeds } = buildCase(opCase, 'small', 'float32');
    const expected = await evaluate(both.cpu, graph, feeds);
    const found = await evaluate(both.runtime, graph, feeds);
    for (const [name, data] of Object.entries(found)) expectClose(data, expected[name]!, tolerance, name);
  });

  // Sizes at which kernels take other paths: vectors of four, tiles, more than one workgroup.
  it.each(shared)('$name, large', async (opCase) => {
    const { graph, feeds } = buildCase(opCase, 'large', 'float32');
    const expected = await evaluate(both.cpu, graph, feeds);
    const found = await evaluate(both.runtime, graph, feeds);
    for (const [name, data] of Object.entries(found)) expectClose(data, expected[name]!, tolerance, name);
  });

  it.each(Object.entries(cpuOnly))('%s: refused, since %s', async (name) => {
    const opCase = cases.find((one) => one.name === name)!;
    const { graph, feeds } = buildCase(opCase, 'small', 'float32');
    await expect(evaluate(both.runtime, graph, feeds)).rejects.toThrow('fallback to CPU EP');
  });
});
