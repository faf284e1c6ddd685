// Which StoreError a failed system call is.
import { StoreError, StoreProblem, type StoreErrorCode, type StoreErrorDetails } from './error.ts';

const codes: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  ENOENT: ['not_found', 'there is no such object'],
  ENOSPC: ['full', 'no space is left on the file system; free some or move the store'],
  EDQUOT: ['full', 'the disk quota is used up; free some space or raise the quota'],
  EFBIG: ['full', 'the file is larger than the file system or a limit of the process allows'],
  EACCES: ['denied', 'permission denied; check the owner and mode of the store’s folder'],
  EPERM: ['denied', 'operation not permitted; check the owner and mode of the store’s folder'],
  EROFS: ['denied', 'the file system is read-only; mount it writable'],
  EEXIST: ['conflict', 'an object with this key exists already'],
  ENOTDIR: ['conflict', 'a part of the key is an object itself; choose another key'],
  EISDIR: ['conflict', 'other objects lie below this key; choose another key'],
  ENAMETOOLONG: ['invalid', 'the path is too long for the file system; use a shorter key'],
  EIO: ['corrupt', 'the disk failed to keep the bytes; check the device'],
  ESTALE: ['unreachable', 'the mounted file system went away; check the mount'],
  EMFILE: ['unreachable', 'too many open files; raise the limit (ulimit -n)'],
};

/** The system's name of an error (`ENOENT`, …), if it has one. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function filesystemError(
  where: Omit<StoreErrorDetails, 'problem' | 'cause'>,
  cause: unknown,
): StoreError {
  if (cause instanceof StoreError) return cause;
  if (cause instanceof StoreProblem)
    return new StoreError(cause.code, { ...where, problem: cause.message, cause });
  const detail = cause instanceof Error ? cause.message : String(cause);
  const [code, advice] = codes[errnoOf(cause) ?? ''] ?? ['unreachable', 'the file system failed'];
  return new StoreError(code, { ...where, problem: `${advice} (${detail})`, cause });
}
