// A real local service (`millrace serve`) with leases short enough that a kill costs seconds, and its processes by what they do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import { identityOf, treeOf } from '../../cli/serve/process-tree.ts';
import { startServe } from '../support/serve.ts';
import type { Victim } from './plan.ts';

const entries: Readonly<Record<Victim, string>> = {
  trainer: 'runner/trainer.ts',
  supervisor: 'runner/main.ts',
  uploader: 'runner/uploader.ts',
  api: 'api/node.ts',
  grader: 'runner/grader.ts',
};

export interface FaultService {
  readonly client: Client;
  /** Of a process that runs now. */
  pid(victim: Victim): number | undefined;
  stop(): Promise<void>;
}

export async function startFaultService(dataDir: string): Promise<FaultService> {
  const serve = await startServe(dataDir, {
    env: {
      MILLRACE_LEASE_MS: '8000',
      MILLRACE_HEARTBEAT_MS: '300',
      MILLRACE_TICK_MS: '200',
      MILLRACE_ALLOW_PRIVATE_ADDRESSES: '1',
    },
  });
  const key = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim();
  return {
    client: createClient({ url: serve.url, key, tries: 30 }),
    pid: (victim) =>
      treeOf(identityOf(serve.pid)).find(({ pid }) => commandOf(pid).includes(entries[victim]))?.pid,
    stop: async () => void (await serve.stop()),
  };
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // gone meanwhile
  }
}
