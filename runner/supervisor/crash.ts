// What a trainer's death without an outcome was: out of memory where there is evidence, else a crash.
import { readFileSync } from 'node:fs';
import type { Outcome } from '../../api/contract/runner.ts';
import type { Exit } from './child.ts';

/** Processes that the kernel has killed for memory so far: in our control group, else on the whole machine. */
export function memoryKills(): number | undefined {
  const counters = [cgroupEvents(), '/proc/vmstat'];
  for (const file of counters) {
    try {
      const count = file && /^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
      if (count) return Number(count);
    } catch {
      // Not a Linux, or not readable for us: the next one may be.
    }
  }
  return undefined;
}

function cgroupEvents(): string | undefined {
  try {
    const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    return path === undefined ? undefined : `/sys/fs/cgroup${path}/memory.events`;
  } catch {
    return undefined;
  }
}

const heapExhausted =
  /JavaScript heap out of memory|std::bad_alloc|Cannot allocate memory|Failed to allocate memory/;

/** `killsBefore`: memoryKills() from when the trainer started. Nothing of ours has killed it. */
export function crashOutcome(exit: Exit, lastLines: string, killsBefore: number | undefined): Outcome {
  const how =
    exit.error?.message ?? (exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`);
  const killsNow = memoryKills();
  const killedForMemory =
    exit.signal === 'SIGKILL' &&
    killsBefore !== undefined &&
    killsNow !== undefined &&
    killsNow > killsBefore;
  const log = lastLines === '' ? 'It wrote no log.' : `Its last lines:\n${lastLines}`;
  if (killedForMemory || heapExhausted.test(lastLines)) {
    return failed(
      'out_of_memory',
      `the trainer ran out of memory (${how}): take a smaller batch or a larger runner. ${log}`,
    );
  }
  return failed('trainer_crashed', `the trainer ended without an outcome (${how}). ${log}`);
}

export function failed(reason: Extract<Outcome, { type: 'failed' }>['reason'], message: string): Outcome {
  return {
    type: 'failed',
    reason,
    message: message.replaceAll('\0', '\uFFFD').toWellFormed().slice(0, 10_000),
  };
}
