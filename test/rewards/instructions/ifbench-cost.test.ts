// What no response may do: make one of IFBench's constraints throw, or cost more than a second. A megabyte of each kind of text that
// tempts a backtracking expression or a quadratic loop. Seconds are of the processor: other work on the machine does not count.
import { expect, it } from 'vitest';
import type { IfbenchId } from '../../../api/contract/instructions/ifbench.ts';
import { verdicts } from '../../../runner/rewards/instructions/verdicts.ts';
import { ifbenchCases } from './ifbench-cases.ts';

const megabyte = 1_000_000;
const filled = (unit: string): string => unit.repeat(Math.ceil(megabyte / unit.length)).slice(0, megabyte);

/** Every character of `letters` in an order that repeats only after the whole text. */
function mixed(letters: string): string {
  let state = 1;
  return Array.from({ length: megabyte }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return letters[state % letters.length];
  }).join('');
}

const units = [
  'a',
  '.',
  '. ',
  'A. ',
  '?!',
  '(',
  `"'`,
  '- ',
  '* a\n- b\n',
  '\n',
  'a\n',
  'a\t',
  '<i>a',
  '<a>',
  '1.',
  '1,',
  'eying',
  '\u200d',
  '\ufdfa',
  'a 🎉. ',
  '日本 ',
  'e.g. ',
  "can't ",
  'abcba ',
  'Question 1. a\nA) b\n',
  '"a",',
  '\ud800',
];
const hostile = [
  ...units.map((unit) => [JSON.stringify(unit), filled(unit)] as const),
  ['one word and its marks', `a${filled('\u0301')}`] as const,
  ['white space before a word', `${filled(' ')}x`] as const,
  ['marks and letters', mixed(`ab .,'"()[]{}-*?!\n<>/`)] as const,
  ['countries', `Zimbabwe\n${filled('Algeria\n')}`] as const,
  ['labels', `My Answer: a${filled('My Conclusion:')}`] as const,
];

it.each(Object.keys(ifbenchCases) as IfbenchId[])('%s', { timeout: 120_000 }, (id) => {
  const row = { prompt: 'Do it.', instruction_id_list: [id], kwargs: [{ ...ifbenchCases[id].args }] };
  const slow = hostile.flatMap(([name, response]) => {
    const before = process.cpuUsage();
    verdicts(row, response, 'strict');
    const seconds = process.cpuUsage(before).user / 1e6;
    return seconds < 1 ? [] : [`${name}: ${seconds} s`];
  });
  expect(slow).toEqual([]);
});
