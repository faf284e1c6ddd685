// Rows that cannot be used: names the file, the line and what to do.

export class DataError extends Error {
  override readonly name = 'DataError';
}
