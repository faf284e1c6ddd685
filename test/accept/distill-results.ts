// What the acceptance run of distillation writes down: JSON for machines, a page with tables for people.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clock } from '../../cli/format.ts';
import type { DomainChange } from '../../examples/small-world/report/comparison.ts';
import { markdownTable } from '../../examples/small-world/report/markdown.ts';
import { signed } from '../../examples/small-world/report/matrix.ts';
import type { DistilledSeed, Recovery, Regression } from './distill-seed.ts';
import { resultsFolder, writeResults } from './results.ts';

const goal = 0.8;
const name = 'accept-distill';

const counted = ({ regressions }: DistilledSeed): Regression[] => regressions.filter(({ counts }) => counts);

/** A seed without a regression shows nothing, and so does not pass. */
export const distilledPassed = (results: readonly DistilledSeed[]): boolean =>
  results.every((result) => {
    const regressions = counted(result);
    return regressions.length > 0 && regressions.every(({ distilled }) => distilled.recovered >= goal);
  });

/** For a terminal: a line a seed and regression. */
export const verdicts = (results: readonly DistilledSeed[]): string[] =>
  results.flatMap((result) => {
    const lines = counted(result).map(
      ({ lost, teacher, distilled, continued }) =>
        `seed ${result.seed}, ${lost.domain}: ${lost.before.toFixed(3)} after ${teacher}, ${lost.after.toFixed(3)} at the end; ` +
        `distilled ${distilled.change.after.toFixed(3)} (${shareText(distilled)} of the loss), more RL ` +
        `${continued.change.after.toFixed(3)} (${shareText(continued)})${distilled.recovered >= goal ? '' : ', less than 80 %'}`,
    );
    return lines.length > 0 ? lines : [`seed ${result.seed}: no regression that its interval shows`];
  });

const shareText = ({ recovered }: Recovery): string => `${(100 * recovered).toFixed(0)} %`;

/** Returns the path of the JSON from the repository's root. */
export function writeDistilled(results: readonly DistilledSeed[]): string {
  writeFileSync(join(resultsFolder(), `${name}.md`), pageOf(results));
  return writeResults(name, { goal, passed: distilledPassed(results), seeds: results });
}

const pageOf = (results: readonly DistilledSeed[]): string =>
  [
    '# Distillation back from the best checkpoints',
    'Held-out tasks of the small world, eight samples each, paired 95 % bootstrap intervals over tasks. *Lost* is from the best end of a ' +
      'stage of the domain, which is its teacher, to the end of the cascade; *distilled* and *more RL* are what as many rollouts of either ' +
      'made of that end. A regression counts where the whole interval is below 0. Written by `make accept-distill`.',
    ...results.flatMap(sectionOf),
  ].join('\n\n') + '\n';

const sectionOf = (result: DistilledSeed): string[] => [
  `## Seed ${result.seed}`,
  `${startText(result)} Distillation took ${clock(result.seconds.distilled)}, reinforcement ${clock(result.seconds.continued)}, evaluations within included.`,
  markdownTable([
    ['domain', 'teacher', 'lost', 'distilled', 'of the loss', 'more RL', 'of the loss'],
    ...result.regressions.map(({ lost, teacher, counts, distilled, continued }) => [
      lost.domain,
      `stage ${teacher}`,
      `${changeText(lost)}${counts ? '' : ' (does not count)'}`,
      changeText(distilled.change),
      counts ? shareText(distilled) : '-',
      changeText(continued.change),
      counts ? shareText(continued) : '-',
    ]),
  ]),
  markdownTable([
    ['KL to the teacher, nats a token', 'first step', 'last ten steps'],
    ...Object.entries(result.kl).map(([domain, values]) => [
      domain,
      values[0]?.toFixed(4) ?? '-',
      meanOf(values.slice(-10)).toFixed(4),
    ]),
  ]),
];

const startText = ({ induced }: DistilledSeed): string =>
  induced === null
    ? 'From the end of the cascade.'
    : `The cascade had lost nothing that its intervals show: both ways begin after supervised steps on ${induced} alone.`;

const changeText = ({ before, after, change, low, high }: DomainChange): string =>
  `${before.toFixed(3)} to ${after.toFixed(3)}: ${signed(change)} (${signed(low)} to ${signed(high)})`;

function meanOf(values: readonly (number | null)[]): number {
  const known = values.filter((value) => value !== null);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
