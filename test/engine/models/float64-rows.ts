// Rows of float64 vectors, in loops: the arithmetic of the reference decoder.

export type Vector = Float64Array<ArrayBuffer>;
export type Rows = Vector[];

export const zeros = (rows: number, width: number): Rows =>
  Array.from({ length: rows }, () => new Float64Array(width));

/** weight [out,in] times each row, plus the bias. */
export function affine(x: Rows, weight: ArrayLike<number>, bias?: ArrayLike<number>): Rows {
  return x.map((row) => {
    const out = new Float64Array(weight.length / row.length);
    for (let o = 0; o < out.length; o++) {
      let total = bias === undefined ? 0 : bias[o]!;
      for (let i = 0; i < row.length; i++) total += weight[o * row.length + i]! * row[i]!;
      out[o] = total;
    }
    return out;
  });
}

/** The gradient of x; that of the weight is added to `gradient`. */
export function affineBackward(x: Rows, weight: ArrayLike<number>, dOut: Rows, gradient: Float64Array): Rows {
  return x.map((row, t) => {
    const dx = new Float64Array(row.length);
    dOut[t]!.forEach((d, o) => {
      for (let i = 0; i < row.length; i++) {
        gradient[o * row.length + i]! += d * row[i]!;
        dx[i]! += d * weight[o * row.length + i]!;
      }
    });
    return dx;
  });
}

export const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
export const silu = (z: number): number => z * sigmoid(z);
export const sum = (a: Rows, b: Rows): Rows => a.map((row, t) => row.map((x, i) => x + b[t]![i]!));

export function softmax(scores: Vector, scale: number): Vector {
  let largest = -Infinity;
  for (const score of scores) largest = Math.max(largest, score * scale);
  const exps = scores.map((score) => Math.exp(score * scale - largest));
  const total = exps.reduce((all, x) => all + x, 0);
  return exps.map((x) => x / total);
}
