// Which keys a store takes. One rule for all stores, tight enough that a key is also a safe
// relative path: so a job can move between stores, and no key can leave the store's root.
import { StoreError } from './error.ts';

const maxKeyBytes = 1024; // S3's own limit
const maxSegmentBytes = 255; // the common limit of file systems

/** What is wrong with a key, or undefined when nothing is. */
export function keyProblem(key: string): string | undefined {
  if (key === '') return 'the key is empty';
  if (Buffer.byteLength(key) > maxKeyBytes) return `the key is longer than ${maxKeyBytes} bytes`;
  if (!key.isWellFormed()) return 'the key is not well-formed Unicode';
  if (/[\u0000-\u001f\u007f\\]/.test(key)) return 'the key has a control character or a backslash';
  for (const segment of key.split('/')) {
    if (segment === '') return 'the key has an empty segment (leading, trailing or double slash)';
    if (segment === '.' || segment === '..') return `the key has the segment "${segment}"`;
    if (Buffer.byteLength(segment) > maxSegmentBytes)
      return `a segment of the key is longer than ${maxSegmentBytes} bytes`;
  }
  return undefined;
}

/** Throws `invalid` for a key that no store takes. */
export function checkKey(store: string, operation: string, key: string): void {
  const problem = keyProblem(key);
  if (problem === undefined) return;
  throw new StoreError('invalid', { store, operation, key, problem });
}

/** A prefix is any beginning of a key, the empty one too; its complete segments must be valid. */
export function checkPrefix(store: string, prefix: string): void {
  const problem = prefix === '' ? undefined : keyProblem(`${prefix}x`);
  if (problem === undefined) return;
  throw new StoreError('invalid', { store, operation: 'list', key: prefix, problem });
}

/** Whether a folder comes after another in the order of keys, in which its name ends in a slash. */
export const isAfter = (name: string, after: string | undefined): boolean =>
  after === undefined || Buffer.compare(Buffer.from(`${name}/`), Buffer.from(`${after}/`)) > 0;
