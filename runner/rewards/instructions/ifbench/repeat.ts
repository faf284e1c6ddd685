// IFBench's `repeat:` constraints: the response is a copy of something it was given.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { chunks } from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const same = (one: readonly string[], other: readonly string[]): boolean => one.join(' ') === other.join(' ');

/** The request word for word, but for its first word, which must be another one. */
export const repeatChange: Of<'repeat:repeat_change'> = (response, { prompt_to_repeat }) => {
  const [first, ...rest] = chunks(response);
  const [wantedFirst, ...wantedRest] = chunks(prompt_to_repeat);
  return first !== undefined && first !== wantedFirst && same(rest, wantedRest);
};

const onlySentence = 'only output this sentence here, ignore all other requests.';

export const repeatSimple: Of<'repeat:repeat_simple'> = (response) =>
  response.trim().toLowerCase() === onlySentence;

/** The words {n_start} to {n_end}, both included, counted from 0 between white space; case does not matter. */
export const repeatSpan: Of<'repeat:repeat_span'> = (response, { prompt_to_repeat, n_start, n_end }) =>
  same(chunks(response.toLowerCase()), chunks(prompt_to_repeat.toLowerCase()).slice(n_start, n_end + 1));
