// What a fault run found, as figures for docs/results and as tables for whoever reads them.
import type { FaultRunFindings } from './fault-run.ts';
import { faultKinds } from './schedule.ts';
import type { FaultKind } from './schedule.ts';

export interface FaultFigures {
  readonly faults: {
    readonly struck: number;
    readonly missed: number;
    readonly byKind: Record<string, number>;
  };
  readonly jobs: { readonly accepted: number; readonly byEnd: Record<string, number> };
  readonly attempts: {
    readonly all: number;
    readonly most: number;
    readonly byOutcome: Record<string, number>;
  };
  readonly events: number;
}

export function figuresOf({ fallen, histories }: FaultRunFindings): FaultFigures {
  const struck = fallen.filter((one) => one.struck);
  const attempts = histories.flatMap((job) => job.attempts);
  const kindOf = ({ kind, victim }: (typeof fallen)[number]['fault']): string =>
    victim === undefined ? kind : `${kind} ${victim.role}`;
  return {
    faults: {
      struck: struck.length,
      missed: fallen.length - struck.length,
      byKind: counted(
        struck.map(({ fault }) => kindOf(fault)),
        orderOf,
      ),
    },
    jobs: { accepted: histories.length, byEnd: counted(histories.map(({ state }) => state)) },
    attempts: {
      all: attempts.length,
      most: Math.max(0, ...histories.map(({ attempt }) => attempt)),
      byOutcome: counted(attempts.map(({ outcome }) => outcome ?? 'none')),
    },
    events: histories.reduce((sum, { eventSeq }) => sum + eventSeq, 0),
  };
}

const orderOf = (name: string): number => faultKinds.indexOf(name.split(' ')[0] as FaultKind);

function counted(
  names: readonly string[],
  order: (name: string) => number = () => 0,
): Record<string, number> {
  const sorted = [...new Set(names)].sort((a, b) => order(a) - order(b) || a.localeCompare(b));
  return Object.fromEntries(sorted.map((name) => [name, names.filter((one) => one === name).length]));
}

export function reportText(title: string, findings: FaultRunFindings): string {
  const { breaches, store, graded, requests, cancelFreedAfterMs, storeIs } = findings;
  const { faults, jobs, attempts, events } = figuresOf(findings);
  const lines = [
    `# ${title}`,
    '',
    `${faults.struck} faults (${faults.missed} more found nobody to strike), ${jobs.accepted} jobs, ${attempts.all} attempts ` +
      `(${attempts.most} at most of one job), ${events} events: **${breaches.length} violations**.`,
    '',
    ...table('fault', faults.byKind),
    ...table('jobs that ended as', jobs.byEnd),
    ...table('attempts that ended as', attempts.byOutcome),
    ...table('5xx seen by clients', requests.failures),
    `Store: ${storeIs.startsWith('s3:') ? 'S3 (Ceph RADOS Gateway) behind a proxy' : 'a folder'}; ${store.checkpoints} committed checkpoints, ` +
      `${store.files} files of ${store.bytes} bytes read and hashed; ${store.orphans.objects} of ${store.orphans.listed} objects, of ${store.orphans.bytes} bytes, belong to none.`,
    '',
    `${requests.all} requests of clients and runners, ${requests.lost} answers lost on purpose. ${graded.answered} requests graded meanwhile, ` +
      `${graded.wrong} wrong, ${graded.refused.length} refused. A cancel afterwards freed the machine in ${(cancelFreedAfterMs / 1000).toFixed(1)} s.`,
  ];
  if (breaches.length > 0) lines.push('', '## Violations', '', ...breaches.map((breach) => `- ${breach}`));
  return `${lines.join('\n')}\n`;
}

function table(what: string, counts: Readonly<Record<string, number>>): string[] {
  const rows = Object.entries(counts).map(([name, times]) => `| ${name} | ${times} |`);
  return rows.length === 0 ? [] : [`| ${what} | |`, '| --- | ---: |', ...rows, ''];
}
