// Overlaps between the parts of a job: stages among each other, stages with suites.
import { expect, it } from 'vitest';
import { entry } from '../../api/contract/event.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import { dataOverlaps } from '../../runner/trainer/data-overlap.ts';
import { tinyData, tinyDatasets, tinyRows, tinySpec } from '../support/tiny-policy.ts';

it('evaluated prompts in a stage are named, with their rows', () => {
  const found = dataOverlaps(tinySpec(), tinyDatasets);
  const math = found.find(({ stage, other_is }) => stage === 'math' && other_is === 'suite');
  // The test rows of this fixture are the first ten of the training rows.
  expect(math).toMatchObject({ shares: '9-gram', of: tinyRows.math.length });
  expect(math!.rows).toBeGreaterThanOrEqual(10);
  expect(math!.examples[0]).toEqual([0, 0]);
  for (const one of found) expect(entry.parse(one)).toEqual(one);
});

it('a prompt of one stage in a later one is named; the same dataset twice is not', () => {
  const spec = tinySpec();
  const [, math] = spec.stages;
  const second = { ...math!, name: 'again', data: tinyData.test };
  const overlaps = dataOverlaps(
    { ...spec, stages: [math!, second], evaluate: { ...spec.evaluate, suites: [] } },
    tinyDatasets,
  );
  expect(overlaps).toMatchObject([
    { stage: 'again', other: 'math', other_is: 'stage', shares: 'prompt', rows: 10, of: 10 },
  ]);
  const same = { ...math!, name: 'same' };
  expect(
    dataOverlaps(
      { ...spec, stages: [math!, same], evaluate: { ...spec.evaluate, suites: [] } },
      tinyDatasets,
    ),
  ).toEqual([]);
});

it('domains of one stage are not held against each other: they come in the same batches', () => {
  const spec = tinySpec();
  const { data, ...math } = spec.stages[1] as Extract<ExpandedStage, { kind: 'math' }>;
  const source = { grader: math.grader, weight: 1, language_mixing: math.language_mixing };
  const both = {
    ...math,
    kind: 'multi_domain',
    domains: [
      { ...source, domain: 'a', data },
      { ...source, domain: 'b', data: tinyData.test },
    ],
  } as ExpandedStage;
  const given = { ...spec, stages: [both], evaluate: { ...spec.evaluate, suites: [] } };
  expect(dataOverlaps(given, tinyDatasets)).toEqual([]);
});
