// 16-bit floats to float32, exactly, and back, to the nearest and of two equally near to the even one.

/** bfloat16 is the upper half of a float32. `into` must begin at a multiple of 4 bytes (every Float32Array does). */
export function widenBf16(halves: Uint16Array, into: Float32Array<ArrayBuffer>): void {
  const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < bits.length; i++) bits[i] = halves[i]! << 16;
}

function widenOneF16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** IEEE 754 binary16, subnormals, infinities and NaN included. */
export function widenF16(halves: Uint16Array, into: Float32Array): void {
  for (let i = 0; i < into.length; i++) into[i] = widenOneF16(halves[i]!);
}

/** The nearest bfloat16 of each value; past the largest lies infinity. A NaN stays one, whatever bits it loses. */
export function narrowBf16(values: Float32Array<ArrayBuffer>, into: Uint16Array): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    into[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
}

/** Finite values from here on have no finite binary16. */
export const f16Overflow = 65_520;

function narrowOneF16(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (magnitude >= f16Overflow) return sign | 0x7c00;
  // Subnormals share the spacing of the smallest normal numbers.
  const exponent = Math.max(-14, exponentOf(magnitude));
  const quotient = magnitude / 2 ** (exponent - 10);
  const below = Math.floor(quotient);
  const rest = quotient - below;
  const rounded = rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
  // A carry out of the fraction runs into the exponent, where it belongs.
  return sign | (((exponent + 14) << 10) + rounded);
}

/** Of a float32, so that every step is exact in float64. */
function exponentOf(magnitude: number): number {
  if (magnitude === 0) return -Infinity;
  const estimate = Math.floor(Math.log2(magnitude));
  if (2 ** estimate > magnitude) return estimate - 1;
  return 2 ** (estimate + 1) <= magnitude ? estimate + 1 : estimate;
}

/** The nearest IEEE 754 binary16 of each value; past the largest lies infinity. */
export function narrowF16(values: Float32Array, into: Uint16Array): void {
  for (let i = 0; i < values.length; i++) into[i] = narrowOneF16(values[i]!);
}
