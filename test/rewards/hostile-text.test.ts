// Text is read in the trainer's own process, so no text may cost the square of its length, or worse: each of these once took
// minutes, or for ever. Processor time, not the clock's: other tests run beside this one.
import { expect, it } from 'vitest';
import { answerCode } from '../../runner/rewards/code/answer-code.ts';
import { differingLine } from '../../runner/rewards/code/same-output.ts';
import { responseAnswer } from '../../runner/rewards/math/extract.ts';
import { normaliseLatex } from '../../runner/rewards/math/latex.ts';
import { parseBlocks } from '../../runner/rewards/swe/blocks.ts';

const many = 200_000;

it.each<[string, () => unknown]>([
  ['a fence of tildes that is none', () => answerCode(`${'~'.repeat(many)}\``, 'python')],
  ['a fence with a long info string that is none', () => answerCode(`\`\`\`${'a'.repeat(many)}\``, 'python')],
  ['a printed number with zeros inside', () => differingLine('5', `1${'0'.repeat(many)}1`)],
  ['an answer of punctuation', () => responseAnswer(`x${'. '.repeat(many)}x`)],
  ['a statement of stars', () => responseAnswer(`the answer is x${'*'.repeat(many)}x`)],
  ['stars inside a box', () => normaliseLatex(`5${'*'.repeat(1_000)}x`)],
  ['a path of stars', () => parseBlocks(`### x${'*'.repeat(many)}x`)],
])('%s', (_, read) => {
  const before = process.cpuUsage();
  read();
  expect(process.cpuUsage(before).user / 1e6, 'seconds').toBeLessThan(1);
});
