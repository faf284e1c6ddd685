// The report of a run of the small world in a folder: report.md with its pictures beside it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clock } from '../../../cli/format.ts';
import { heatMap } from './heat-map.ts';
import { gainsMarkdown, matrixMarkdown, stagesMarkdown } from './markdown.ts';
import { gainsOf, isOwn, matrixOf } from './matrix.ts';
import { panels } from './panels.ts';
import type { RunRecord, StageRecord, StepRecord } from './record.ts';

export interface About {
  readonly title: string;
  readonly job: string;
  readonly seconds: number;
}

const pictures = { matrix: 'matrix.svg', rewards: 'rewards.svg', lengths: 'lengths.svg' };

/** Returns the path of report.md. */
export function writeReport(folder: string, about: About, record: RunRecord): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(picturesOf(record))) writeFileSync(join(folder, name), text);
  const file = join(folder, 'report.md');
  writeFileSync(file, reportText(about, record));
  return file;
}

/** File name to SVG. */
export const picturesOf = (record: RunRecord): Record<string, string> => ({
  [pictures.matrix]: heatMap('Evaluations along the cascade', matrixOf(record), (column, row) =>
    isOwn(record.stages, column, row),
  ),
  [pictures.rewards]: panels(
    'Reward by step (supervised stages: loss)',
    record.stages.map((stage) =>
      stage.reinforced ? curve(stage, 'reward') : { ...curve(stage, 'loss'), title: `${stage.name}: loss` },
    ),
  ),
  [pictures.lengths]: panels(
    'Tokens of a response by step',
    record.stages.filter(({ reinforced }) => reinforced).map((stage) => curve(stage, 'length')),
  ),
});

const curve = ({ name, steps }: StageRecord, key: Exclude<keyof StepRecord, 'step'>) => ({
  title: name,
  values: steps.map((step) => step[key]),
});

const reportText = ({ title, job, seconds }: About, record: RunRecord): string =>
  [
    `# ${title}`,
    `Job \`${job}\`, ${clock(seconds)}. How to read this: docs/small-world.md.`,
    '## Every domain after every stage',
    `![Evaluations along the cascade](${pictures.matrix})`,
    matrixMarkdown(record),
    'Values with half of their 95 % interval over tasks; bold: what a stage did to its own domain.',
    '## What each stage gained in its own domain',
    gainsMarkdown(gainsOf(record)),
    '## Training',
    stagesMarkdown(record),
    `![Reward by step](${pictures.rewards})`,
    `![Tokens of a response by step](${pictures.lengths})`,
  ].join('\n\n') + '\n';
