// The two models that move tensors of a device: an identity, and zeros of a given size.
import { dataTypes, ModelProto } from '../onnx/schema.ts';
import type { DType } from './runtime.ts';

const irVersion = 10;
const opset = 21;

const flat = (name: string, dtype: DType, dim: object) => ({
  name,
  type: { tensor_type: { elem_type: dataTypes[dtype], shape: { dim: [dim] } } },
});
const anySize = {};

function model(graph: object): Uint8Array {
  return ModelProto.encode(
    ModelProto.fromObject({
      ir_version: irVersion,
      opset_import: [{ domain: '', version: opset }],
      graph: { name: 'device copy', output: [flat('y', 'int32', anySize)], ...graph },
    }),
  ).finish();
}

/** y = x, of int32. */
export const copyModel = (): Uint8Array =>
  model({
    node: [{ op_type: 'Identity', input: ['x'], output: ['y'] }],
    input: [flat('x', 'int32', anySize)],
  });

/** y = as many int32 zeros as the one element of `shape` says. */
export const zeroModel = (): Uint8Array =>
  model({
    node: [{ op_type: 'Expand', input: ['zero', 'shape'], output: ['y'] }],
    initializer: [{ name: 'zero', dims: [1], data_type: dataTypes.int32, raw_data: new Uint8Array(4) }],
    input: [flat('shape', 'int64', { dim_value: 1 })],
  });
