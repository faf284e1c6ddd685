// ONNX Runtime's environment with one global thread pool for all sessions, without spinning:
// sessions and other processes share the cores. The library keeps one environment a process, so
// runtimes that live at the same time share it and must ask for the same number of threads.
import { call, release, type Pointer } from './api.ts';
import { SharedHandle } from './shared-handle.ts';

const severityError = 3;

let current: { readonly handle: SharedHandle<Pointer>; readonly threads: number } | undefined;

/** The process's environment, retained for the caller. */
export function retainEnv(threads: number): SharedHandle<Pointer> {
  if (current === undefined) {
    current = { handle: createEnv(threads), threads };
    return current.handle;
  }
  if (current.threads !== threads) {
    throw new Error(
      `a runtime with ${current.threads} threads lives in this process, so one with ${threads} cannot be made: dispose the first, or ask for the same number`,
    );
  }
  return current.handle.retain();
}

function createEnv(threads: number): SharedHandle<Pointer> {
  const options = call('CreateThreadingOptions');
  try {
    call('SetGlobalIntraOpNumThreads', options, threads);
    call('SetGlobalInterOpNumThreads', options, 1);
    call('SetGlobalSpinControl', options, 0);
    const env = call('CreateEnvWithGlobalThreadPools', severityError, 'millrace', options);
    return new SharedHandle(env, () => {
      release('ReleaseEnv', env);
      current = undefined;
    });
  } finally {
    release('ReleaseThreadingOptions', options);
  }
}
