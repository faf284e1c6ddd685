// The trainer process: forked by the supervisor for one attempt, it computes and never talks to the service. It ends with
// an outcome message, and at once when its parent is gone.
import type { FromTrainer, ToTrainer } from './ipc.ts';
import { runAttempt } from './trainer/attempt.ts';
import { failedOutcome } from './trainer/outcome.ts';
import type { ProcessHost } from './trainer/process-host.ts';

let host: ProcessHost | undefined;

process.once('disconnect', () => process.exit(1));
process.on('message', (message: ToTrainer) => {
  if (message.type === 'snapshot_done') host?.snapshotDone(message.dir);
  else void run(message);
});

function send(message: FromTrainer): void {
  process.send?.(message);
}

async function run(start: Extract<ToTrainer, { type: 'start' }>): Promise<void> {
  try {
    await runAttempt(start, send, (created) => (host = created));
    exitAfter({ type: 'outcome', outcome: { type: 'succeeded' } }, 0);
  } catch (error) {
    console.error(error);
    exitAfter({ type: 'outcome', outcome: failedOutcome(error) }, 1);
  }
}

/** Exits once the message has left this process. */
function exitAfter(message: FromTrainer, code: number): void {
  if (process.send === undefined) process.exit(code);
  process.send(message, () => process.exit(code));
}
