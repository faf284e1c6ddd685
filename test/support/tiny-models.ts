// Models of one or two nodes for the suites of the runtime, written straight as ModelProto.
import { attributeTypes, dataTypes, ModelProto } from '../../runner/engine/onnx/schema.ts';
import type { DType } from '../../runner/engine/ort/runtime.ts';

export interface TinyValue {
  readonly name: string;
  readonly dtype?: DType;
  /** An undefined entry leaves the dimension open. */
  readonly dims: readonly (number | undefined)[];
}

export interface TinyNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** All of them whole numbers. */
  readonly attributes?: Readonly<Record<string, number>>;
}

/** Serialized ModelProto, default domain, opset 21. */
export function tinyModel(
  nodes: readonly TinyNode[],
  inputs: readonly TinyValue[],
  outputs: readonly TinyValue[],
): Uint8Array {
  return ModelProto.encode(
    ModelProto.fromObject({
      ir_version: 10,
      opset_import: [{ domain: '', version: 21 }],
      graph: {
        name: 'tiny',
        node: nodes.map(({ op, inputs, outputs, attributes = {} }) => ({
          op_type: op,
          input: inputs,
          output: outputs,
          attribute: Object.entries(attributes).map(([name, i]) => ({ name, type: attributeTypes.int, i })),
        })),
        input: inputs.map(valueInfo),
        output: outputs.map(valueInfo),
      },
    }),
  ).finish();
}

/** y = a b for a [rows, inner] and b [inner, columns]. */
export function matMulModel(rows: number, inner: number, columns: number): Uint8Array {
  return tinyModel(
    [{ op: 'MatMul', inputs: ['a', 'b'], outputs: ['y'] }],
    [
      { name: 'a', dims: [rows, inner] },
      { name: 'b', dims: [inner, columns] },
    ],
    [{ name: 'y', dims: [rows, columns] }],
  );
}

/** y = x + d, elementwise. */
export function addModel(dims: readonly (number | undefined)[], dtype: DType = 'float32'): Uint8Array {
  return tinyModel(
    [{ op: 'Add', inputs: ['x', 'd'], outputs: ['y'] }],
    [
      { name: 'x', dtype, dims },
      { name: 'd', dtype, dims },
    ],
    [{ name: 'y', dtype, dims }],
  );
}

function valueInfo({ name, dtype = 'float32', dims }: TinyValue): object {
  const dim = dims.map((size) => (size === undefined ? {} : { dim_value: size }));
  return { name, type: { tensor_type: { elem_type: dataTypes[dtype], shape: { dim } } } };
}
