// 16-bit floats to float32, exactly. Writing them is not needed: checkpoints are float32.

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
