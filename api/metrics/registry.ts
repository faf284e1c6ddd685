// Counters, gauges and histograms in Prometheus' text format, version 0.0.4. Small enough to be ours, so that it runs in
// a Worker, and each app has its own: nothing global.

type Labels = Readonly<Record<string, string>>;

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

export interface Counter {
  add(labels?: Labels, by?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function labelled(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

/** A family with its samples, each a name with labels and a value. */
export function exposition({ name, help, type }: Family, samples: readonly [string, number][]): string {
  const lines = samples.map(([sample, value]) => `${sample} ${value}\n`);
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Samples of one gauge from what was just measured. */
export const gaugeText = (
  name: string,
  help: string,
  points: readonly { readonly labels: Labels; readonly value: number }[],
): string =>
  exposition(
    { name, help, type: 'gauge' },
    points.map(({ labels, value }) => [labelled(name, labels), value]),
  );

export class Registry {
  readonly #families: (() => string)[] = [];

  counter(name: string, help: string): Counter {
    const values = new Map<string, number>();
    this.#families.push(() => exposition({ name, help, type: 'counter' }, [...values]));
    return {
      add(labels = {}, by = 1) {
        const sample = labelled(name, labels);
        values.set(sample, (values.get(sample) ?? 0) + by);
      },
    };
  }

  /** Asked when it is read. */
  gauge(name: string, help: string, value: () => number): void {
    this.#families.push(() => exposition({ name, help, type: 'gauge' }, [[name, value()]]));
  }

  /** `bounds`: upper ends of the buckets, rising; the last, of everything, is added. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number }>();
    this.#families.push(() =>
      exposition(
        { name, help, type: 'histogram' },
        [...series.values()].flatMap(({ labels, counts, sum }) =>
          bucketsOf(name, labels, bounds, counts, sum),
        ),
      ),
    );
    return {
      observe(value, labels = {}) {
        const key = labelled('', labels);
        const known = series.get(key) ?? { labels, counts: bounds.map(() => 0).concat(0), sum: 0 };
        series.set(key, known);
        const bucket = bounds.findIndex((bound) => value <= bound);
        known.counts[bucket < 0 ? bounds.length : bucket]! += 1;
        known.sum += value;
      },
    };
  }

  text(): string {
    return this.#families.map((family) => family()).join('');
  }
}

/** Buckets count what is at most their bound, those below included. */
function bucketsOf(
  name: string,
  labels: Labels,
  bounds: readonly number[],
  counts: readonly number[],
  sum: number,
): [string, number][] {
  let total = 0;
  const buckets = counts.map((count, at): [string, number] => {
    total += count;
    const le = at < bounds.length ? String(bounds[at]) : '+Inf';
    return [labelled(`${name}_bucket`, { ...labels, le }), total];
  });
  return [...buckets, [labelled(`${name}_sum`, labels), sum], [labelled(`${name}_count`, labels), total]];
}
