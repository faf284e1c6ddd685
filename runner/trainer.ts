// The trainer process: forked by the supervisor for one attempt, it computes and never talks to the service. It ends with
// an outcome message, and at once when its parent is gone.
import type { FromTrainer, ToTrainer } from './ipc.ts';
import { runAttempt } from './trainer/attempt.ts';
import { endOf } from './trainer/outcome.ts';
import type { ProcessHost } from './trainer/process-host.ts';

let host: ProcessHost | undefined;
let pausing = false;

process.once('disconnect', () => process.exit(1));
process.on('message', (message: ToTrainer) => {
  switch (message.type) {
    case 'start':
      return void run(message);
    case 'snapshot_done':
      return host?.snapshotDone(message.dir);
    case 'stage_end':
    case 'stage_end_missing':
      return host?.teachers?.answer(message);
    case 'pause':
      pausing = true;
  }
});

function send(message: FromTrainer): void {
  process.send?.(message);
}

async function run(start: Extract<ToTrainer, { type: 'start' }>): Promise<void> {
  try {
    const supervisor = { send, pauseAsked: () => pausing };
    await runAttempt(start, supervisor, (created) => (host = created));
    exitAfter({ type: 'outcome', outcome: { type: 'succeeded' } }, 0);
  } catch (error) {
    const outcome = endOf(error);
    if (outcome.type === 'failed') console.error(error);
    exitAfter({ type: 'outcome', outcome }, outcome.type === 'failed' ? 1 : 0);
  }
}

/** Exits once the message has left this process. */
function exitAfter(message: FromTrainer, code: number): void {
  if (process.send === undefined) process.exit(code);
  process.send(message, () => process.exit(code));
}
