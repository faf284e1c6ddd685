// Cosines and sines of rotary position embedding, in float64 and then rounded: the angles of late positions
// lose their last bits when they are made in float32.

/** RoPE of Llama 3.1 and later: slow rotations are slowed by `factor`, fast ones stay, those between are blended. */
export interface RopeScaling {
  readonly factor: number;
  /** A rotation is slow where it turns fewer times than this in the original positions. */
  readonly lowFrequencyFactor: number;
  /** It is fast where it turns more often than this. */
  readonly highFrequencyFactor: number;
  readonly originalMaxPositions: number;
}

export interface Rope {
  readonly headSize: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling | null;
}

export interface RotaryTables {
  /** [S, hd/2], row-major. */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

function scaled(frequency: number, scaling: RopeScaling): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalMaxPositions } = scaling;
  const turns = (originalMaxPositions * frequency) / (2 * Math.PI);
  if (turns < low) return frequency / factor;
  if (turns > high) return frequency;
  const unscaled = (turns - low) / (high - low);
  return frequency * (unscaled + (1 - unscaled) / factor);
}

/** Radians that pair i of a head turns from one position to the next, [hd/2]: theta^(-2i/hd), then the scaling. */
export function rotaryFrequencies({ headSize, ropeTheta, ropeScaling }: Rope): number[] {
  return Array.from({ length: headSize / 2 }, (_, i) => {
    const frequency = ropeTheta ** ((-2 * i) / headSize);
    return ropeScaling === null ? frequency : scaled(frequency, ropeScaling);
  });
}

/** Of positions 0 to `positions` - 1. Both tables are multiplied by `scale`. */
export function rotaryTables(rope: Rope, positions: number, scale = 1): RotaryTables {
  const half = rope.headSize / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (const [i, frequency] of rotaryFrequencies(rope).entries()) {
    for (let position = 0; position < positions; position++) {
      cos[position * half + i] = scale * Math.cos(position * frequency);
      sin[position * half + i] = scale * Math.sin(position * frequency);
    }
  }
  return { cos, sin };
}
