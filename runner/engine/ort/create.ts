// Chooses the implementation of the runtime.
import { CApiRuntime } from './c-api-runtime.ts';
import type { Runtime } from './runtime.ts';

/** `threads`: intra-op threads of the process's one pool, by default the number of cores. */
export function createRuntime({ threads }: { readonly threads?: number } = {}): Runtime {
  return new CApiRuntime(threads);
}
