// What a session's inputs and outputs are, and the check of tensors against it at bind: missing,
// extra or wrong ones are errors that name them. Shared by both implementations of the runtime.
import type { Tensor } from './runtime.ts';

export interface ValueInfo {
  readonly name: string;
  /** Element type as ONNX names it, e.g. float32; others than DType's can be named but not bound. */
  readonly dtype: string;
  /** One entry a dimension, undefined where the model leaves it open; undefined as a whole where the rank is open. */
  readonly dims: readonly (number | undefined)[] | undefined;
}

export interface BoundValue<T> {
  readonly name: string;
  readonly tensor: T;
}

/** The tensors in the session's order. `kind` is input or output, for errors. */
export function matchTensors<T extends Tensor>(
  label: string,
  kind: 'input' | 'output',
  infos: readonly ValueInfo[],
  tensors: Record<string, Tensor>,
  own: (tensor: Tensor, what: string) => T,
): BoundValue<T>[] {
  const extra = Object.keys(tensors).filter((name) => !infos.some((info) => info.name === name));
  const missing = infos.filter((info) => tensors[info.name] === undefined).map(({ name }) => name);
  if (missing.length > 0 || extra.length > 0) {
    const parts = [
      ...(missing.length > 0 ? [`missing ${missing.join(', ')}`] : []),
      ...(extra.length > 0 ? [`unknown ${extra.join(', ')}`] : []),
    ];
    const names = infos.map(({ name }) => name).join(', ');
    throw new Error(`${label}: ${kind}s to bind: ${parts.join('; ')} (the model has ${names})`);
  }
  return infos.map((info) => {
    const what = `${label}: ${kind} ${info.name}`;
    const tensor = own(tensors[info.name] as Tensor, what);
    checkTensor(what, info, tensor);
    return { name: info.name, tensor };
  });
}

function checkTensor(what: string, info: ValueInfo, tensor: Tensor): void {
  const { dtype, dims } = info;
  const fits =
    tensor.dtype === dtype &&
    (dims === undefined ||
      (dims.length === tensor.dims.length &&
        dims.every((dim, axis) => dim === undefined || dim === tensor.dims[axis])));
  if (fits) return;
  const wanted = dims === undefined ? '[...]' : `[${dims.map((dim) => dim ?? '?').join(', ')}]`;
  throw new Error(
    `${what} is ${dtype}${wanted} in the model, the tensor is ${tensor.dtype}[${tensor.dims.join(', ')}]`,
  );
}

// TensorProto.DataType of the ONNX specification.
const elementTypes = [
  'undefined',
  'float32',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'int32',
  'int64',
  'string',
  'bool',
  'float16',
  'float64',
  'uint32',
  'uint64',
  'complex64',
  'complex128',
  'bfloat16',
] as const;

export function elementType(code: number): string {
  return elementTypes[code] ?? `element type ${code}`;
}

export function elementCode(dtype: Tensor['dtype']): number {
  return elementTypes.indexOf(dtype);
}
