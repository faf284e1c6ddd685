// Under what a resume is exact: what differs is said, and a device never repeats to the bit.
import { expect, it } from 'vitest';
import { manifest } from '../../api/contract/checkpoint.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { conditionsOf, differences } from '../../runner/trainer/conditions.ts';

const runtime = createRuntime();
const now = conditionsOf(runtime, {
  memoryBytes: 2 ** 30,
  cacheTokens: 1024,
  precision: 'float32',
  device: 'cpu',
});
runtime[Symbol.dispose]();

it('nothing differs from itself on the cpu', () => {
  expect(now).toMatchObject({ provider: 'cpu', precision: 'float32', device: 'cpu', cache_tokens: 1024 });
  expect(differences(now, now)).toEqual([]);
});

it('another provider, driver or precision is named', () => {
  const then = { ...now, provider: 'webgpu', device: 'NVIDIA H200, 575.57', precision: 'float16' } as const;
  expect(differences(then, now)).toEqual([
    'provider was webgpu, is cpu',
    'device was NVIDIA H200, 575.57, is cpu',
    'precision was float16, is float32',
  ]);
});

it('on a device a resume is never exact, though all is as it was', () => {
  const device = { ...now, provider: 'webgpu' };
  expect(differences(device, device)).toEqual([expect.stringContaining('nothing there repeats to the bit')]);
});

it('checkpoints of before say what was then the only way', () => {
  const { provider, onnxruntime, threads, cpu, node, memory_bytes } = now;
  const before = { provider, onnxruntime, threads, cpu, node, memory_bytes };
  expect(manifest.shape.conditions.parse(before)).toEqual({ ...now, cache_tokens: 131_072 });
});
