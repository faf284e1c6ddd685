// How many prompts of each batch every source gives, by weight. Place after place goes to the source that is furthest behind its
// share of all places so far (largest remainder, carried over the steps): no source ever strays far from its share, and over the
// whole stage shares are exact. A function of the step's number alone, so nothing of it is in a checkpoint.
import { sum } from '../mean.ts';
import type { Source } from './source.ts';

/** Halves are exact within every source: with one `half_half` source all give an even number. */
const unitOf = (sources: readonly Pick<Source, 'mode'>[]): number =>
  sources.some(({ mode }) => mode === 'half_half') ? 2 : 1;

/** Of step `step` (from 1), in the order of the sources; the counts add up to `prompts`. */
export function sharesOf(
  sources: readonly Pick<Source, 'mode' | 'weight'>[],
  prompts: number,
): (step: number) => number[] {
  const unit = unitOf(sources);
  if (prompts % unit !== 0)
    throw new Error(`internal: ${prompts} prompts of a step cannot be halved exactly by mode`);
  // Relative to the largest: the sum of weights near the end of float64 is infinite.
  const largest = sources.reduce((most, { weight }) => Math.max(most, weight), 0);
  const relative = sources.map(({ weight }) => weight / largest);
  const total = sum(relative);
  const shares = relative.map((weight) => weight / total);
  let given = shares.map(() => 0);
  let done = 0;
  const next = (): number[] => {
    const before = given;
    given = [...before];
    for (let place = 1; place <= prompts / unit; place += 1) {
      const places = done * (prompts / unit) + place;
      const behind = shares.map((share, i) => share * places - given[i]!);
      given[behind.indexOf(Math.max(...behind))]! += 1;
    }
    done += 1;
    return given.map((count, i) => unit * (count - before[i]!));
  };
  let last: number[] = [];
  return (step) => {
    if (step < 1) throw new Error(`internal: no shares of step ${step}`);
    if (step < done) [given, done] = [shares.map(() => 0), 0];
    while (done < step) last = next();
    return last;
  };
}
