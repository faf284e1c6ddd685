// One transfer, whatever its kind.
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import type { Transfer } from '../ipc.ts';
import type { TransferContext } from './context.ts';
import { fetchCheckpoint, fetchModel, fetchObject } from './fetch.ts';
import { retrying } from './retry.ts';
import { storeSnapshot } from './store-snapshot.ts';

/** Idempotent: a transfer that was cut short is simply asked again. Returns what to commit for a snapshot. */
export async function performTransfer(
  context: TransferContext,
  transfer: Transfer,
): Promise<CheckpointCommit | undefined> {
  switch (transfer.kind) {
    case 'fetch_file':
      await fetchObject(context, transfer, transfer.file);
      return undefined;
    case 'fetch_checkpoint':
      await fetchCheckpoint(context, transfer.checkpoint, transfer.dir, transfer.part);
      return undefined;
    case 'fetch_model':
      await fetchModel(context, transfer.uri, transfer.dir);
      return undefined;
    case 'store_snapshot':
      return await storeSnapshot(context, transfer.dir, transfer.prefix);
    case 'store_file':
      await retrying(context.patience, () => context.store.put(transfer.key, { path: transfer.file }));
      return undefined;
  }
}
