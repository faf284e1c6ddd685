// Run by webgpu.test.ts as a process of its own, on whose environment it depends what is found.
import { createRuntime } from '../../../runner/engine/ort/create.ts';

const provider = process.argv[2] as 'webgpu' | 'cuda' | 'auto';
const told: string[] = [];
let outcome: object;
try {
  outcome = {
    provider: createRuntime({ threads: 1, provider, tell: (message) => told.push(message) }).provider,
  };
} catch (error) {
  outcome = { error: String(error) };
}
console.log(JSON.stringify({ ...outcome, told }));
