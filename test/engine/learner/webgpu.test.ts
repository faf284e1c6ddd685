import { describe } from 'vitest';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { learnerCases } from './provider-cases.ts';

describe.skipIf(noWebgpu)(`WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  learnerCases(webgpuRuntime);
});
