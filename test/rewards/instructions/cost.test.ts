// No response makes a check expensive: a megabyte of what each kind of scanning likes least costs less than a second of
// processor time (not of the clock: other tests run beside this one).
import { expect, it } from 'vitest';
import { verdicts } from '../../../runner/rewards/instructions/verdicts.ts';
import { ifevalExamples } from './ifeval-examples.ts';

const megabyte = 1_000_000;
const units = [
  'a',
  ' ',
  '\n',
  '. ',
  '1.\n',
  '.\'" )',
  '*',
  '[a',
  '<',
  '"',
  '` ',
  'I ',
  '{"a":',
  '-',
  "a.'",
  '😀',
];

it.each(Object.entries(ifevalExamples))('%s', (id, [{ args }]) => {
  const row = { prompt: 'p', instruction_id_list: [id], kwargs: [args] };
  for (const unit of units) {
    const response = unit.repeat(Math.ceil(megabyte / unit.length));
    const before = process.cpuUsage();
    verdicts(row, response, 'strict');
    const { user } = process.cpuUsage(before);
    expect(user / 1e6, `seconds for ${JSON.stringify(unit)}`).toBeLessThan(1);
  }
});
