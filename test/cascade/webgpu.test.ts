import { describe } from 'vitest';
import { noWebgpu, webgpuRuntime } from '../support/webgpu.ts';
import { cascadeCases } from './provider-cases.ts';

describe.skipIf(noWebgpu)(`cascade on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  cascadeCases(webgpuRuntime);
});
