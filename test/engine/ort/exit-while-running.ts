// Run by c-api.test.ts as a process of its own: leaves while a run is going and nothing is disposed.
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { matMulModel } from '../../support/tiny-models.ts';

const size = 1_024;
const runtime = createRuntime({ threads: 2, binding: 'c-api' });
const model = await runtime.createSession(matMulModel(size, size, size));
const a = runtime.tensor('float32', [size, size]);
const binding = model.bind({ a, b: a }, { y: runtime.tensor('float32', [size, size]) });
void binding.run();
setImmediate(() => process.exit(7));
