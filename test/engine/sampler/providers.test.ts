import { describe } from 'vitest';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { guardedRuntime } from '../../support/guarded-runtime.ts';
import { cacheCases } from './cache-cases.ts';

describe('caches on the CPU', () => {
  cacheCases(() => createRuntime({ threads: 2 }));
});

describe('caches on a device whose memory cannot be reached', () => {
  cacheCases(guardedRuntime);
});
