// The mean of numbers, as all that is told of batches and tasks takes it: added up in their order.

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** NaN of none. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;
