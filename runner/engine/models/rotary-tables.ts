// Cosines and sines of rotary position embedding, in float64 and then rounded: the angles of late positions
// lose their last bits when they are made in float32.

export interface RotaryTables {
  /** [S, hd/2], row-major. */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

/** Angle of (position p, pair i) is p * theta^(-2i/hd). Both tables are multiplied by `scale`. */
export function rotaryTables(positions: number, headSize: number, theta: number, scale = 1): RotaryTables {
  const half = headSize / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let i = 0; i < half; i++) {
    const frequency = theta ** ((-2 * i) / headSize);
    for (let position = 0; position < positions; position++) {
      cos[position * half + i] = scale * Math.cos(position * frequency);
      sin[position * half + i] = scale * Math.sin(position * frequency);
    }
  }
  return { cos, sin };
}
