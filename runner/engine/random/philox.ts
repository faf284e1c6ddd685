// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a keyed bijection of a 128-bit
// counter. A draw is a pure function of its name, so nothing has to be saved for a resumed run to draw alike.

const ROUNDS = 10;

/** Four 32-bit words (unsigned) for a key of two words and a counter of four. */
export function philox(
  key: readonly [number, number],
  counter: readonly [number, number, number, number],
): [number, number, number, number] {
  let [k0, k1] = key;
  let [c0, c1, c2, c3] = counter;
  for (let round = 0; round < ROUNDS; round += 1) {
    const high0 = highProduct(0xd2511f53, c0);
    const low0 = Math.imul(0xd2511f53, c0);
    const high1 = highProduct(0xcd9e8d57, c2);
    const low1 = Math.imul(0xcd9e8d57, c2);
    [c0, c1, c2, c3] = [high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0];
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

/** Upper 32 bits of the 64-bit product of two unsigned words, in 16-bit halves, since doubles hold 53 bits only. */
function highProduct(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = (middle & 0xffff) + aLow * bHigh;
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) | 0;
}
