// Which answers are equal, in both polarities: a verifier that is too kind is worse than none.
import { expect, it } from 'vitest';
import { different, equal } from './pairs.ts';
import { valueOf } from './verify.ts';

it.each(equal)('%s = %s', async (gold, given) => {
  expect(await valueOf(gold, `\\boxed{${given}}`)).toBe(1);
  expect(await valueOf(given, `\\boxed{${gold}}`)).toBe(1);
});

it.each(different)('%s != %s', async (gold, given) => {
  expect(await valueOf(gold, `\\boxed{${given}}`)).toBe(0);
  expect(await valueOf(given, `\\boxed{${gold}}`)).toBe(0);
});
