// A quantile of numbers, as all that is told of batches takes it.

/** Linear between the two nearest ranks; NaN of none. */
export function quantile(values: readonly number[] | Float64Array, share: number): number {
  return quantileOfSorted(Float64Array.from(values).sort(), share);
}

/** Of values in ascending order. */
export function quantileOfSorted(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return NaN;
  const rank = share * (sorted.length - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (rank - below) * (sorted[above]! - sorted[below]!);
}
