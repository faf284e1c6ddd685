// Which StoreError a failed call of the R2 binding is. The binding tells the number of its error at the end of the message.
import { StoreError, StoreProblem, type StoreErrorCode, type StoreErrorDetails } from './error.ts';

const byNumber: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  10006: ['not_found', 'there is no such bucket; create it or correct [[r2_buckets]]'],
  10010: ['full', 'the object is larger than R2 allows'],
  10024: ['unreachable', 'R2 lost the multipart upload; put the object again'],
  10031: ['conflict', 'an object with this key exists already'],
  10037: ['corrupt', 'R2 received other bytes than were sent; put the object again'],
  10039: ['invalid', 'the object has no bytes in this range'],
  10058: ['unreachable', 'R2 asks to slow down; try again later'],
};

export function r2Error(where: Omit<StoreErrorDetails, 'problem' | 'cause'>, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  if (cause instanceof StoreProblem)
    return new StoreError(cause.code, { ...where, problem: cause.message, cause });
  const message = cause instanceof Error ? cause.message : String(cause);
  const number = /\((\d{5})\)\s*$/.exec(message)?.[1] ?? '';
  const [code, advice] = byNumber[number] ?? ['unreachable', 'R2 did not answer; try again later'];
  return new StoreError(code, { ...where, problem: `${advice} (${message})`, cause });
}
