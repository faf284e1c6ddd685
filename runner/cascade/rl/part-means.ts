// Means of what rewards are made of: the grader's parts, and what penalties added.
import type { Judged } from './judge.ts';

/** A grader names as many parts as it likes (one for each instruction of a row); of these so many are series. */
const MOST_PARTS = 40;
/** With a domain before it a key still has room in a metric's name. */
const LONGEST_NAME = 24;

/** `parts.NAME` over the scored rollouts that have it, a number before the name left out; a penalty that did nothing is 0. */
export function partMeans(scored: readonly Judged[]): Record<string, number> {
  const sums = new Map<string, { total: number; count: number }>();
  const add = (name: string, value: number): void => {
    const { total, count } = sums.get(name) ?? { total: 0, count: 0 };
    sums.set(name, { total: total + value, count: count + 1 });
  };
  for (const { outcome, penalties } of scored) {
    const parts = outcome.status === 'scored' ? outcome.parts : {};
    for (const [name, value] of Object.entries(parts)) add(seriesOf(name), value);
    for (const [name, value] of Object.entries(penalties)) add(name, value);
  }
  const penalised = new Set(scored.flatMap(({ penalties }) => Object.keys(penalties)));
  return Object.fromEntries(
    [...sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, MOST_PARTS)
      .map(([name, { total, count }]) => [
        `parts.${name}`,
        total / (penalised.has(name) ? scored.length : count),
      ]),
  );
}

/** Instructions are numbered within their row (`0:keywords:existence`); a remote grader names its parts as it likes. */
const seriesOf = (name: string): string =>
  name
    .replace(/^\d+:/, '')
    .replaceAll(/[^\w.:-]/g, '_')
    .slice(0, LONGEST_NAME);
