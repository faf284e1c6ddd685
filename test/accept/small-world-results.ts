// What the acceptance run of the small world writes down: JSON for machines, a page with tables and plots for people.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clock } from '../../cli/format.ts';
import type { DomainChange, HeldOut, StageEffect } from '../../examples/small-world/report/comparison.ts';
import { effectsOf, effectsOverSeeds } from '../../examples/small-world/report/comparison.ts';
import { markdownTable, matrixMarkdown } from '../../examples/small-world/report/markdown.ts';
import { signed, withEvaluations } from '../../examples/small-world/report/matrix.ts';
import type { RunRecord, StageRecord } from '../../examples/small-world/report/record.ts';
import { picturesOf } from '../../examples/small-world/report/write.ts';
import { resultsFolder, writeResults } from './results.ts';

export interface SeedResult {
  readonly seed: number;
  readonly job: string;
  /** Of the cascade alone. */
  readonly seconds: number;
  readonly limitSeconds: number;
  readonly record: RunRecord;
  readonly heldOut: readonly HeldOut[];
}

/** What an RL stage is to add to its own domain's held-out avg@8. */
const goal = 0.1;
const name = 'accept-small-world';

const effects = ({ record, heldOut }: SeedResult): StageEffect[] => effectsOf(record.stages, heldOut);

export const passed = (results: readonly SeedResult[]): boolean =>
  results.flatMap(effects).every(({ own }) => own.change >= goal);

/** For a terminal: a line a seed and stage. */
export const verdictLines = (results: readonly SeedResult[]): string[] =>
  results.flatMap((result) =>
    effects(result).map(
      ({ stage, own }) =>
        `seed ${result.seed}, ${stage}: ${changeText(own)} on ${own.tasks} held-out tasks${own.change >= goal ? '' : `, less than ${goal.toFixed(2)}`}`,
    ),
  );

const changeText = ({ domain, before, after, change, low, high }: DomainChange): string =>
  `${domain} ${before.toFixed(3)} to ${after.toFixed(3)}, ${signed(change)} (95 %: ${signed(low)} to ${signed(high)})`;

/** Returns the path of the JSON from the repository's root. */
export function writeSmallWorld(results: readonly SeedResult[]): string {
  const folder = resultsFolder();
  writeFileSync(join(folder, `${name}.md`), pageOf(results));
  for (const { seed, record, heldOut } of results)
    for (const [file, svg] of Object.entries(picturesOf(withEvaluations(record, heldOut))))
      writeFileSync(join(folder, pictureName(seed, file)), svg);
  return writeResults(name, {
    goal,
    passed: passed(results),
    over_seeds: overSeeds(results),
    seeds: results.map((result) => ({
      seed: result.seed,
      seconds: result.seconds,
      limit_seconds: result.limitSeconds,
      effects: effects(result),
      held_out: withoutValues(result.heldOut),
      evaluations: withoutValues(result.record.evaluations),
      stages: result.record.stages.map(curveOf),
    })),
  });
}

const overSeeds = (results: readonly SeedResult[]): StageEffect[] =>
  effectsOverSeeds(
    results[0]!.record.stages,
    results.map(({ heldOut }) => heldOut),
  );

const withoutValues = (evaluations: readonly HeldOut[]) =>
  evaluations.map(({ after, cells }) => ({
    after,
    cells: cells.map((cell) => ({ ...cell, values: undefined })),
  }));

/** As text: a number a line would make the file ten times as long. */
const curveOf = ({ name: stage, domain, seconds, steps }: StageRecord) => ({
  ...{ stage, domain, seconds, steps: steps.length },
  rewards: steps.map(({ reward }) => (reward === null ? '-' : reward.toFixed(4))).join(' '),
});

const pictureName = (seed: number, file: string): string => `${name}-seed-${seed}-${file}`;

const pageOf = (results: readonly SeedResult[]): string =>
  [
    '# The small world on held-out tasks',
    `Eight samples a task, ${results.length} seeds. Gains are of the stage's own domain, after less before on the same tasks, with ` +
      'paired 95 % bootstrap intervals over tasks. Written by `make accept-small-world`; how to read it: docs/small-world.md.',
    '## What each stage did to its own domain',
    effectTable(results),
    '## What it did to the others, over seeds',
    othersTable(overSeeds(results)),
    ...results.flatMap(seedSection),
  ].join('\n\n') + '\n';

function effectTable(results: readonly SeedResult[]): string {
  const each = results.map(effects);
  return markdownTable([
    ['stage', 'domain', ...results.map(({ seed }) => `seed ${seed}`), 'over seeds'],
    ...overSeeds(results).map(({ stage, own }, at) => [
      stage,
      own.domain,
      ...each.map((one) => intervalText(one[at]!.own)),
      intervalText(own),
    ]),
  ]);
}

function othersTable(over: readonly StageEffect[]): string {
  const domains = [
    ...new Set(over.flatMap(({ own, others }) => [own, ...others]).map(({ domain }) => domain)),
  ];
  return markdownTable([
    ['stage', ...domains],
    ...over.map(({ stage, own, others }) => [
      stage,
      ...domains.map((domain) => {
        const change = others.find((one) => one.domain === domain);
        return change === undefined ? (own.domain === domain ? 'its own' : '-') : intervalText(change);
      }),
    ]),
  ]);
}

const intervalText = ({ before, after, change, low, high }: DomainChange): string =>
  `${before.toFixed(3)} to ${after.toFixed(3)}: ${signed(change)} (${signed(low)} to ${signed(high)})`;

const seedSection = ({ seed, seconds, limitSeconds, record, heldOut }: SeedResult): string[] => [
  `## Seed ${seed}`,
  `The cascade took ${clock(seconds)}; at most ${clock(limitSeconds)} are meant. Held-out tasks after every stage:`,
  matrixMarkdown(withEvaluations(record, heldOut)),
  ...Object.keys(picturesOf(record)).map((file) => `![${file}](${pictureName(seed, file)})`),
];
