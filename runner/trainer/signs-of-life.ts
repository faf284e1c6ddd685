// Signs of life from where the work is: every run of native code that has come to its end is one. A timer would go on
// beating though a run never returned.
import type { Binding, Runtime, Session } from '../engine/ort/runtime.ts';

/** The same runtime; `sign` is called at the end of a run, at most once in `everyMs`. */
export function withSignsOfLife(runtime: Runtime, sign: () => void, everyMs = 1_000): Runtime {
  let last = -Infinity;
  const ran = (): void => {
    const now = performance.now();
    if (now - last < everyMs) return;
    last = now;
    sign();
  };
  return {
    name: runtime.name,
    provider: runtime.provider,
    version: runtime.version,
    threads: runtime.threads,
    tensor: (dtype, dims, data) => runtime.tensor(dtype, dims, data),
    allocate: (dtype, dims) => runtime.allocate(dtype, dims),
    createSession: async (model, options) => watchedSession(await runtime.createSession(model, options), ran),
    stats: () => runtime.stats(),
    [Symbol.dispose]: () => runtime[Symbol.dispose](),
  };
}

function watchedSession(session: Session, ran: () => void): Session {
  return {
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    bind: (inputs, outputs) => watchedBinding(session.bind(inputs, outputs), ran),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  };
}

function watchedBinding(binding: Binding, ran: () => void): Binding {
  return {
    async run() {
      await binding.run();
      ran();
    },
    runSync() {
      binding.runSync();
      ran();
    },
    [Symbol.dispose]: () => binding[Symbol.dispose](),
  };
}
