// Exit 0 if sessions can compute on WebGPU here, else 3 and the reason on standard output. A process of its own: the choice
// of the loader, before it, has loaded libraries, and the engine must be the first to do so.
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { ProviderUnavailable } from '../../runner/engine/ort/provider.ts';

try {
  createRuntime({ provider: 'webgpu' })[Symbol.dispose]();
} catch (error) {
  if (!(error instanceof ProviderUnavailable)) throw error;
  console.log(error.message);
  process.exitCode = 3;
}
