// `npm run fault`: a service of its own on a real Postgres and a real S3 server, jobs, and faults by a schedule drawn from a seed; then
// every promise of the service is looked into. Exit 1 where one was broken; what is left is then kept for a look.
//   --minutes N  for the faults (30)   --seed S  (1)   --faults F  (200)   --jobs J  at least (100)   --schedule  only print it
//   --lease S  in seconds (6): where the machine is busy with other things a heartbeat takes longer   --runners R  (3)
//   --variants V  different jobs of each kind (2)
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resultsFolder, writeResults } from '../accept/results.ts';
import { noRgw } from '../support/rgw.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { FaultRunFindings, Progress } from './fault-run.ts';
import { faultRun } from './fault-run.ts';
import { figuresOf, reportText } from './report.ts';
import type { Site } from './schedule.ts';
import { faultLine, planFaults } from './schedule.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: '200' },
    jobs: { type: 'string', default: '100' },
    lease: { type: 'string', default: '6' },
    runners: { type: 'string', default: '3' },
    variants: { type: 'string', default: '2' },
    schedule: { type: 'boolean', default: false },
  },
});

function counted(name: Exclude<keyof typeof values, 'schedule'>): number {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  console.error(`--${name} must be a number above 0`);
  process.exit(2);
}

const [minutes, seed, faults, jobs] = [
  counted('minutes'),
  counted('seed'),
  counted('faults'),
  counted('jobs'),
];
const site = { apis: 2, runners: counted('runners') };
const leaseMs = 1_000 * counted('lease');
/** Between two faults. */
const mostEvents = 24;
const minuteMs = 60_000;

const schedule = (of: Site) => planFaults(seed, faults, mostEvents, of);

/** One line that is written over where somebody watches, else one every ten seconds. */
function progressLine(): (progress: Progress) => void {
  let told = -Infinity;
  return ({ phase, fallen, faults: all, posted, atRest, events }) => {
    const width = 30;
    const done = Math.round((width * fallen) / Math.max(1, all));
    const bar = `[${'#'.repeat(done)}${'.'.repeat(width - done)}]`;
    const line = `${bar} ${phase}: ${fallen} of ${all} faults, ${posted} jobs posted, ${atRest} at rest, ${events} events`;
    if (process.stdout.isTTY) process.stdout.write(`\r${line}\x1b[K`);
    else if (performance.now() - told > 10_000) {
      told = performance.now();
      console.log(line);
    }
  };
}

function keep(findings: FaultRunFindings, seconds: number): string {
  const { breaches, fallen, requests, graded, store, cancelFreedAfterMs, restarts } = findings;
  const text = reportText(`Fault run, seed ${seed}`, findings);
  writeFileSync(join(resultsFolder(), 'fault.md'), text);
  const more = { breaches, requests, graded, store, cancel_freed_after_ms: cancelFreedAfterMs, restarts };
  const order = fallen.map(({ fault, struck }) => `${faultLine(fault)}${struck ? '' : ' (nobody there)'}`);
  const file = writeResults('fault', {
    seed,
    seconds,
    ...site,
    lease_ms: leaseMs,
    ...figuresOf(findings),
    ...more,
    order,
  });
  console.log(`\n${text}\nfigures in ${file}`);
  return file;
}

async function main(): Promise<number> {
  const planned = schedule({ ...site, storeProxied: noRgw === false });
  for (const fault of planned) console.log(faultLine(fault));
  if (values.schedule) return 0;
  if (noRgw !== false) console.log(`no faults of the store: ${noRgw}`);
  const dir = await tempDir('fault');
  console.log(`logs in ${dir.path}`);
  const began = performance.now();
  const times = { forMs: minutes * minuteMs, settleMs: Math.max(10, minutes) * minuteMs };
  const findings = await faultRun({
    dir: dir.path,
    seed,
    schedule,
    jobs,
    seeds: counted('variants'),
    width: 8,
    ...site,
    leaseMs,
    ...times,
    onProgress: progressLine(),
  });
  keep(findings, Math.round((performance.now() - began) / 1000));
  if (findings.breaches.length > 0) {
    console.log(`kept for a look: ${dir.path}`);
    return 1;
  }
  await dir.remove();
  return 0;
}

process.exit(await main());
