import { describe } from 'vitest';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';
import { cacheCases } from './cache-cases.ts';

describe.skipIf(noWebgpu)(`caches on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  cacheCases(webgpuRuntime);
});
