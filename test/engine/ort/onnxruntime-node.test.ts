import { runtimeCases } from './runtime-cases.ts';

runtimeCases('onnxruntime-node');
