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

/**
 * The tensors by name, in the session's order. `kind` names the side in errors; `own` refuses a
 * tensor of another make.
 */
export function matchTensors<T extends Tensor>(
  label: string,
  kind: 'input' | 'output',
  infos: readonly ValueInfo[],
  tensors: Record<string, Tensor>,
  own: (tensor: Tensor, what: string) => T,
): Map<string, T> {
  checkNames(`${label}: ${kind}s to bind`, infos, tensors);
  const matched = new Map<string, T>();
  for (const info of infos) {
    const what = `${label}: ${kind} ${info.name}`;
    const tensor = own(tensors[info.name] as Tensor, what);
    checkTensor(what, info, tensor);
    matched.set(info.name, tensor);
  }
  return matched;
}

function checkNames(what: string, infos: readonly ValueInfo[], tensors: Record<string, Tensor>): void {
  const names = infos.map(({ name }) => name);
  const missing = names.filter((name) => !Object.hasOwn(tensors, name));
  const unknown = Object.keys(tensors).filter((name) => !names.includes(name));
  if (missing.length === 0 && unknown.length === 0) return;
  const parts = [
    ...(missing.length > 0 ? [`missing ${missing.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`unknown ${unknown.join(', ')}`] : []),
  ];
  throw new Error(`${what}: ${parts.join('; ')} (the model has ${names.join(', ')})`);
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
