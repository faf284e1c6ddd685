// Does one planned fault to the service and heals it again. A killed process is started again by whoever keeps it; one that was
// stopped goes on after its lease has run out.
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from '../../cli/serve/process-tree.ts';
import { isAlive } from '../../cli/serve/process-tree.ts';
import type { Installation } from './installation.ts';
import type { PlannedFault, Victim } from './schedule.ts';
import { isOfStore } from './schedule.ts';
import { storeFault } from './store-faults.ts';

/** How long a process that comes and goes (trainer, uploader, grader) may take to be there. */
const appearsMs = 8_000;
const hourMs = 3_600_000;

/** Between these, by the share that was drawn. */
const between = ([least, most]: readonly [number, number], share: number): number =>
  least + share * (most - least);

/** Resolves when the fault is over; false where there was nobody to strike. */
export async function inflict(site: Installation, fault: PlannedFault): Promise<boolean> {
  const { kind, victim, share } = fault;
  if (isOfStore(kind)) return await spoilStore(site, fault);
  switch (kind) {
    case 'kill':
      return await strike(site, victim!, (one) => signal(one, 'SIGKILL'));
    case 'freeze':
      return await freeze(site, victim!, site.leaseMs + between([1_000, 4_000], share));
    case 'database_restart':
      await site.database.crash(() => delay(between([0, 4_000], share)));
      return true;
    case 'sessions_terminated':
      await site.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      return true;
    case 'answers_lost': {
      let seen = 0;
      site.balancer.losesAnswer = () => seen++ % 3 === 0;
      await delay(between([1_000, 4_000], share));
      site.balancer.losesAnswer = () => false;
      return true;
    }
    case 'clock_off':
      site.processes.setClock(victim!.of, share < 0.5 ? hourMs : -hourMs);
      return await strike(site, victim!, (one) => signal(one, 'SIGKILL'));
  }
}

async function spoilStore({ proxy }: Installation, { kind, share }: PlannedFault): Promise<boolean> {
  if (proxy === undefined || !isOfStore(kind)) return false;
  const spoiled = storeFault(kind);
  proxy.fault = spoiled;
  await delay(between([1_500, 6_000], share));
  // Another fault of the store may have begun meanwhile: it ends by itself.
  if (proxy.fault === spoiled) proxy.fault = () => false;
  return true;
}

async function awaitVictim(site: Installation, victim: Victim): Promise<ProcessIdentity[]> {
  for (const deadline = performance.now() + appearsMs; ;) {
    const found = site.processes.of(victim);
    if (found.length > 0 || performance.now() > deadline) return found;
    await delay(20);
  }
}

async function strike(
  site: Installation,
  victim: Victim,
  blow: (one: ProcessIdentity) => boolean,
): Promise<boolean> {
  return (await awaitVictim(site, victim)).map(blow).includes(true);
}

async function freeze(site: Installation, victim: Victim, ms: number): Promise<boolean> {
  const frozen = (await awaitVictim(site, victim)).filter((one) => signal(one, 'SIGSTOP'));
  try {
    if (frozen.length > 0) await delay(ms);
  } finally {
    for (const one of frozen) signal(one, 'SIGCONT');
  }
  return frozen.length > 0;
}

function signal(one: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(one)) return false;
  try {
    return process.kill(one.pid, name);
  } catch {
    return false; // ended by itself meanwhile
  }
}
