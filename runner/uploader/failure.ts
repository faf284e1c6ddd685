// Why a transfer failed, in the words of the runner's processes.
import type { TransferFailureCode } from '../ipc.ts';
import { StoreError } from '../../store/error.ts';

export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
  readonly code: TransferFailureCode;

  constructor(code: TransferFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/** The failure that an error amounts to; `operation` of a StoreError tells a missing object from a missing bucket. */
export function failureOf(error: unknown): TransferFailure {
  if (error instanceof TransferFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StoreError)) {
    return new TransferFailure(isFull(error) ? 'scratch_full' : 'corrupt', message, { cause: error });
  }
  if (error.code === 'not_found' && error.operation === 'get') {
    return new TransferFailure('missing', message, { cause: error });
  }
  const ours = error.code === 'corrupt' || error.code === 'invalid';
  return new TransferFailure(ours ? 'corrupt' : 'unavailable', message, { cause: error });
}
