// Run by tests as a process of its own: leaves while a run is going, with everything alive, or disposed in mid-run.
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Provider } from '../../../runner/engine/ort/runtime.ts';
import { matMulModel } from '../../support/tiny-models.ts';

const [provider, how] = process.argv.slice(2);
const size = 1_024;
const runtime = createRuntime({ threads: 2, binding: 'c-api', provider: provider as Provider });
const model = await runtime.createSession(matMulModel(size, size, size));
const a = runtime.allocate('float32', [size, size]);
const y = runtime.allocate('float32', [size, size]);
const binding = model.bind({ a, b: a }, { y });
void binding.run();
setImmediate(() => {
  if (how === 'disposed') for (const object of [runtime, model, a, y, binding]) object[Symbol.dispose]();
  process.exit(7);
});
