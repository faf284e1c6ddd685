// Learning rate of a step: linear warm-up from a tenth of the peak, then constant, or along a half cosine that would
// be zero one step after the last.

export interface Schedule {
  readonly lr: number;
  readonly lr_schedule: 'constant' | 'cosine';
  readonly warmup_steps: number;
}

/** `step` is 1 for the first optimizer step of the stage, `steps` the stage's number of steps. */
export function learningRate(
  { lr, lr_schedule, warmup_steps }: Schedule,
  step: number,
  steps: number,
): number {
  if (step <= warmup_steps) return lr * (0.1 + (0.9 * (step - 1)) / warmup_steps);
  if (lr_schedule === 'constant') return lr;
  const done = (step - 1 - warmup_steps) / Math.max(1, steps - warmup_steps);
  return lr * 0.5 * (1 + Math.cos(Math.PI * done));
}
