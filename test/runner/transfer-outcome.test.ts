// Which failed transfer is whose fault: that of the data or the model is final, that of a store or a machine is not.
import { expect, test } from 'vitest';
import type { FailureReason } from '../../api/contract/job.ts';
import type { Transfer, TransferFailureCode } from '../../runner/ipc.ts';
import { transferOutcome } from '../../runner/supervisor/transfer-outcome.ts';
import { TransferFailed } from '../../runner/supervisor/uploader-process.ts';

test.each<[Transfer['kind'], TransferFailureCode, FailureReason]>([
  ['fetch_file', 'missing', 'invalid_data'],
  ['fetch_file', 'scratch_full', 'scratch_full'],
  ['fetch_model', 'missing', 'invalid_model'],
  ['fetch_model', 'unavailable', 'store_unavailable'],
  // A runner with the wrong store must not end a job for good that others have trained for days.
  ['fetch_checkpoint', 'missing', 'store_unavailable'],
  ['fetch_checkpoint', 'corrupt', 'store_unavailable'],
  ['store_snapshot', 'corrupt', 'trainer_crashed'],
])('%s, %s: %s', (kind, code, reason) => {
  expect(transferOutcome(new TransferFailed(kind, code, 'm'))).toEqual({
    type: 'failed',
    reason,
    message: 'm',
  });
});
