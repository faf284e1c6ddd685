import { describe } from 'vitest';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { runtimeCases } from './runtime-cases.ts';

describe.skipIf(noWebgpu)(`WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  runtimeCases({ name: 'c-api', provider: 'webgpu' }, webgpuRuntime);
});
