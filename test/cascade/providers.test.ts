import { describe } from 'vitest';
import { guardedRuntime } from '../support/guarded-runtime.ts';
import { cascadeCases } from './provider-cases.ts';

describe('cascade on a device whose memory cannot be reached', () => {
  cascadeCases(guardedRuntime);
});
