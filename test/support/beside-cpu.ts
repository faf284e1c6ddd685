// A runtime of the provider under test beside one of the CPU, whose values it must have. In the end neither holds anything.
import { afterAll, beforeAll, expect } from 'vitest';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';

/** For the suite that calls it, filled in before its first test. */
export function besideCpu(make: () => Runtime): { readonly cpu: Runtime; readonly runtime: Runtime } {
  const both = {} as { cpu: Runtime; runtime: Runtime };
  beforeAll(() => {
    both.cpu = createRuntime({ threads: 2 });
    both.runtime = make();
  });
  afterAll(() => {
    for (const one of Object.values(both)) {
      expect(one.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
      one[Symbol.dispose]();
    }
  });
  return both;
}
