// The uploader process: moves files between the store and scratch for the supervisor, one transfer after another,
// in the order asked. It is forked by the supervisor, holds the store's credentials, and knows no job. Killed at
// any moment it leaves nothing half visible; the supervisor starts another and asks again.
import type { FromUploader, ToUploader } from './ipc.ts';
import type { TransferContext } from './uploader/context.ts';
import { failureOf } from './uploader/failure.ts';
import { performTransfer } from './uploader/transfer.ts';
import { openStore } from '../store/open.ts';

function contextFromEnvironment(): TransferContext {
  const url = process.env['STORE_URL'];
  if (url === undefined) throw new Error('STORE_URL is not set: file:///folder or s3://bucket/prefix');
  return {
    store: openStore(url, process.env),
    openOther: (other) => openStore(other, process.env),
    patience: { limitMs: retryLimitMs(process.env['MILLRACE_STORE_RETRY_MS']), firstPauseMs: 500 },
  };
}

/** How long an unreachable store is asked again. */
function retryLimitMs(text = '300000'): number {
  const limitMs = Number(text);
  if (text.trim() !== '' && limitMs >= 0) return limitMs;
  throw new Error(
    `MILLRACE_STORE_RETRY_MS is ${JSON.stringify(text)}: set it to milliseconds, or not at all`,
  );
}

async function answer(context: TransferContext, { id, transfer }: ToUploader): Promise<FromUploader> {
  try {
    const commit = await performTransfer(context, transfer);
    return { type: 'done', id, ...(commit && { commit }) };
  } catch (error) {
    const { code, message } = failureOf(error);
    return { type: 'failed', id, code, message };
  }
}

function main(): void {
  const context = contextFromEnvironment();
  let turn: Promise<unknown> = Promise.resolve();
  process.on('message', (message) => {
    turn = turn.then(async () => process.send?.(await answer(context, message as ToUploader)));
  });
  const alive: FromUploader = { type: 'alive' };
  setInterval(() => process.send?.(alive), 1_000).unref();
  // Without its supervisor it has no work; the terminal's Ctrl-C is the supervisor's to act on.
  process.on('disconnect', () => process.exit(0));
  process.on('SIGINT', () => undefined);
}

main();
