// ONNX Runtime's environment with one global thread pool for all sessions, without spinning:
// sessions and other processes share the cores. The library keeps one environment a process, so
// runtimes that live at the same time share it and must ask for the same number of threads.
// Sessions allocate from one arena of the environment (they ask for it by session.use_env_allocators): an arena never
// gives memory back, so one for each would hold the sum of all their peaks instead of the largest.
import { call, release, type Pointer } from './api.ts';
import { SharedHandle } from './shared-handle.ts';

const severityError = 3;
const arenaAllocator = 1;
const memTypeDefault = 0;

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
    registerArena(env);
    return new SharedHandle(env, () => {
      release('ReleaseEnv', env);
      current = undefined;
    });
  } finally {
    release('ReleaseThreadingOptions', options);
  }
}

function registerArena(env: Pointer): void {
  const memoryInfo = call('CreateCpuMemoryInfo', arenaAllocator, memTypeDefault);
  try {
    call('CreateAndRegisterAllocator', env, memoryInfo, null);
  } finally {
    release('ReleaseMemoryInfo', memoryInfo);
  }
}
