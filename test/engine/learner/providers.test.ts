import { describe } from 'vitest';
import { guardedRuntime } from '../../support/guarded-runtime.ts';
import { learnerCases } from './provider-cases.ts';

describe('a device whose memory cannot be reached', () => {
  learnerCases(guardedRuntime);
});
