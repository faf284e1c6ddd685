// Checks that shape rules share. Each failure reads "op: expected …, got …".
import type { DType } from '../ort/runtime.ts';
import type { Value } from './graph.ts';
import { formatShape } from './shape.ts';

export const describeType = (value: Value): string => `${value.dtype}${formatShape(value.shape)}`;

export const isFloat = (dtype: DType): boolean => dtype === 'float32' || dtype === 'float64';

export function expectFloat(where: string, value: Value): void {
  if (!isFloat(value.dtype)) throw new Error(`${where}: expected a float tensor, got ${describeType(value)}`);
}

export function expectIndices(where: string, value: Value): void {
  if (value.dtype !== 'int32' && value.dtype !== 'int64') {
    throw new Error(`${where}: expected int32 or int64 indices, got ${describeType(value)}`);
  }
}

export function expectSameDType(where: string, a: Value, b: Value): void {
  if (a.dtype !== b.dtype) {
    throw new Error(`${where}: expected one dtype, got ${describeType(a)} and ${describeType(b)}`);
  }
}

export function expectRank(where: string, value: Value, rank: number): void {
  if (value.shape.length !== rank) {
    throw new Error(`${where}: expected rank ${rank}, got ${describeType(value)}`);
  }
}

/** Throws "op: expected …, got the inputs' types" unless `ok`. */
export function expectThat(ok: boolean, where: string, expected: string, ...got: Value[]): void {
  if (!ok) throw new Error(`${where}: expected ${expected}, got ${got.map(describeType).join(' and ')}`);
}

/** The inputs of a node whose arity the op itself fixed. */
export function operand(inputs: readonly Value[], index: number): Value {
  const value = inputs[index];
  if (!value) throw new Error(`internal: operand ${index} is missing`);
  return value;
}
