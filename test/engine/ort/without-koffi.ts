// Run by create.test.ts as a process of its own in which koffi cannot load.
import Module from 'node:module';

type Load = (request: string, ...rest: unknown[]) => unknown;
const internals = Module as unknown as { _load: Load };
const load = internals._load;
internals._load = (request, ...rest) => {
  if (request === 'koffi') throw new Error('no native module for this platform');
  return load(request, ...rest);
};

const { createRuntime } = await import('../../../runner/engine/ort/create.ts');
const warnings: string[] = [];
const runtime = createRuntime({ threads: 1, warn: (message) => warnings.push(message) });
let forced = 'made';
try {
  createRuntime({ threads: 1, binding: 'c-api' });
} catch (error) {
  forced = String(error);
}
console.log(JSON.stringify({ name: runtime.name, warnings, forced }));
