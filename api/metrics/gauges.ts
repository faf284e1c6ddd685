// What the database says of the service, as gauges. Asked for at most once in some seconds, however many scrape.
import type { GaugeRow } from '../../db/gauges.ts';
import { readGauges } from '../../db/gauges.ts';
import type { Services } from '../context.ts';
import { gaugeText } from './registry.ts';

const keptMs = 5_000;

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const gauges: Readonly<Record<GaugeRow['gauge'], Gauge>> = {
  jobs: { name: 'millrace_jobs', help: 'Jobs that have not ended.', labels: ['state', 'accelerator'] },
  jobs_oldest: {
    name: 'millrace_jobs_oldest_seconds',
    help: 'How long the oldest has waited to be claimed (queued), or since its first attempt began.',
    labels: ['state', 'accelerator'],
  },
  paused: { name: 'millrace_jobs_paused', help: 'Paused jobs by reason.', labels: ['reason'] },
  waiting: {
    name: 'millrace_jobs_waiting_for_rewards',
    help: 'Running jobs whose rewards cannot be had now.',
    labels: ['accelerator'],
  },
  runners: { name: 'millrace_runners_alive', help: 'Runners heard of of late.', labels: ['accelerator'] },
  errands: { name: 'millrace_errands', help: 'Errands that have not ended.', labels: ['kind', 'state'] },
  errands_oldest: {
    name: 'millrace_errands_oldest_seconds',
    help: 'How long the oldest queued errand has waited.',
    labels: ['kind'],
  },
};

type Read = Pick<Services, 'db' | 'timing' | 'now'>;

/** The text of all gauges; that of `millrace_database_up` alone where the database does not answer. */
export function gaugeReader({ db, timing, now }: Read): () => Promise<string> {
  let kept: { readonly text: Promise<string>; readonly until: number } | undefined;
  return () => {
    const at = now().getTime();
    if (kept === undefined || at >= kept.until)
      kept = {
        text: readGauges(db, timing.leaseMs).then(gaugesText, () => databaseUp(0)),
        until: at + keptMs,
      };
    return kept.text;
  };
}

const databaseUp = (value: 0 | 1): string =>
  gaugeText('millrace_database_up', 'Whether the database has told what follows.', [{ labels: {}, value }]);

function gaugesText(rows: readonly GaugeRow[]): string {
  const texts = Object.entries(gauges).map(([key, { name, help, labels }]) => {
    const points = rows
      .filter(({ gauge }) => gauge === key)
      .map(({ one, two, value }) => ({
        labels: Object.fromEntries(labels.map((label, at) => [label, [one, two][at] ?? ''])),
        value,
      }));
    return gaugeText(name, help, points);
  });
  return databaseUp(1) + texts.join('');
}
