import { runtimeCases } from './runtime-cases.ts';

runtimeCases({ name: 'onnxruntime-node', provider: 'cpu' });
