// IFEval's families `detectable_content`, `combination` and `startend`.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import type { ChecksFor } from '../check.ts';

type Ids = `detectable_content:${string}` | `combination:${string}` | `startend:${string}`;
type Contents = { [Id in Extract<keyof typeof ifevalArguments, Ids>]: (typeof ifevalArguments)[Id] };

export const contentChecks: ChecksFor<Contents> = {
  'detectable_content:number_placeholders': (response, { num_placeholders }) =>
    placeholders(response) >= num_placeholders,
  /** Anywhere in the response. The two usual markers may be spaced ("P. S."), another must stand as it is, in any case. */
  'detectable_content:postscript': (response, { postscript_marker }) => {
    const marker = postscript_marker.trim();
    if (marker === 'P.P.S') return /p\.\s?p\.\s?s/i.test(response);
    if (marker === 'P.S.') return /p\.\s?s\./i.test(response);
    return response.toLowerCase().includes(marker.toLowerCase());
  },
  /** Parted by `******`, which may also stand first and last. */
  'combination:two_responses': (response) => {
    const parts = response.split('******').map((part) => part.trim());
    const given = parts.filter((part) => part !== '');
    return !parts.slice(1, -1).includes('') && given.length === 2 && given[0] !== given[1];
  },
  'combination:repeat_prompt': (response, { prompt_to_repeat }) =>
    response.trim().toLowerCase().startsWith(prompt_to_repeat.trim().toLowerCase()),
  /** Quotation marks around the whole response may follow; the original fails a phrase that itself ends with one. */
  'startend:end_checker': (response, { end_phrase }) => {
    const phrase = end_phrase.trim().toLowerCase();
    const text = response.trimEnd().toLowerCase();
    return text.endsWith(phrase) || withoutClosingQuotes(text).endsWith(phrase);
  },
  'startend:quotation': (response) => {
    const text = response.trim();
    return text.length > 1 && text.startsWith('"') && text.endsWith('"');
  },
};

/** `[…]` on one line with something inside; no bracket belongs to two. One pass: an unclosed bracket ends its line. */
function placeholders(response: string): number {
  let count = 0;
  for (const line of response.split('\n')) {
    for (let open = line.indexOf('['); open >= 0;) {
      const close = line.indexOf(']', open);
      if (close < 0) break;
      if (line.slice(open + 1, close).trim() !== '') count++;
      open = line.indexOf('[', close);
    }
  }
  return count;
}

function withoutClosingQuotes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '"') end--;
  return text.slice(0, end);
}
