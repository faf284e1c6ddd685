// The fault run as `make test` has it: ten faults of different kinds, eight jobs, every promise looked into. `npm run fault` is the
// long one.
import { describe, expect, it } from 'vitest';
import { noRgw } from '../support/rgw.ts';
import { tempDir } from '../support/temp-dir.ts';
import { faultRun } from './fault-run.ts';
import type { PlannedFault, Site } from './schedule.ts';
import { isOfStore } from './schedule.ts';

const minuteMs = 60_000;

type Chosen = Omit<PlannedFault, 'number' | 'afterEvents'>;

/** One of each that has broken services of others, in an order in which each meets work. */
const chosen: readonly Chosen[] = [
  { kind: 'freeze', victim: { role: 'supervisor', of: 0 }, share: 0 },
  { kind: 'database_restart', share: 0.1 },
  { kind: 'kill', victim: { role: 'trainer', of: 1 }, share: 0 },
  { kind: 'uploads_cut', share: 0 },
  { kind: 'sessions_terminated', share: 0 },
  { kind: 'freeze', victim: { role: 'api', of: 0 }, share: 0 },
  { kind: 'store_500', share: 0 },
  { kind: 'answers_lost', share: 0 },
  { kind: 'clock_off', victim: { role: 'supervisor', of: 1 }, share: 0 },
  { kind: 'kill', victim: { role: 'uploader', of: 0 }, share: 0 },
];

const schedule = ({ storeProxied }: Site): PlannedFault[] =>
  chosen
    .filter(({ kind }) => storeProxied || !isOfStore(kind))
    .map((fault, at) => ({ ...fault, number: at + 1, afterEvents: 8 }));

describe(`faults on a real Postgres and ${noRgw === false ? 'a real S3 server' : `a folder (${noRgw})`}`, () => {
  it('break no promise', { timeout: 15 * minuteMs }, async () => {
    const dir = await tempDir('fault-short');
    const findings = await faultRun({
      dir: dir.path,
      seed: 1,
      schedule,
      jobs: 8,
      seeds: 1,
      width: 4,
      apis: 2,
      runners: 2,
      leaseMs: 4_000,
      forMs: 5 * minuteMs,
      settleMs: 5 * minuteMs,
      onProgress: () => undefined,
    });
    if (findings.breaches.length > 0) console.error(`kept for a look: ${dir.path}`);
    expect(findings.breaches).toEqual([]);
    // Nothing is proven by faults that did not fall.
    expect(findings.fallen.filter(({ struck }) => struck).length).toBeGreaterThanOrEqual(
      findings.fallen.length - 2,
    );
    expect(findings.jobs.posted).toBeGreaterThanOrEqual(8);
    expect(findings.store.checkpoints).toBeGreaterThan(0);
    await dir.remove();
  });
});
