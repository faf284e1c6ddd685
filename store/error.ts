// The one error that leaves an object store. Callers act on `code`, people read the message:
// it names the store, the operation, the key and what to do.

/**
 * - `not_found`: no such object (or bucket);
 * - `unreachable`: no answer, or the server says "later"; worth a retry;
 * - `denied`: wrong credentials, missing permission, read-only file system;
 * - `full`: no space or quota left;
 * - `conflict`: the object exists and `ifNoneMatch` was asked, or a folder stands in its place;
 * - `corrupt`: bytes are missing or differ from what was announced;
 * - `invalid`: the request itself is wrong (key, range, URL, unreadable body).
 */
export type StoreErrorCode =
  'not_found' | 'unreachable' | 'denied' | 'full' | 'conflict' | 'corrupt' | 'invalid';

export interface StoreErrorDetails {
  readonly store: string;
  readonly operation: string;
  readonly key?: string;
  /** What is wrong and what to do about it. */
  readonly problem: string;
  readonly cause?: unknown;
}

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly store: string;
  readonly operation: string;
  readonly key: string | undefined;

  constructor(code: StoreErrorCode, details: StoreErrorDetails) {
    const { store, operation, key, problem, cause } = details;
    const what = key === undefined ? operation : `${operation} ${JSON.stringify(key)}`;
    super(`store ${store}: ${what}: ${problem}`, { cause });
    this.name = 'StoreError';
    this.code = code;
    this.store = store;
    this.operation = operation;
    this.key = key;
  }
}

/** A fault that is classified where it is found, and gets its store, operation and key on the way out. */
export class StoreProblem extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, problem: string, cause?: unknown) {
    super(problem, { cause });
    this.name = 'StoreProblem';
    this.code = code;
  }
}
