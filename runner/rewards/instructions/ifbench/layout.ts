// IFBench's `format:` constraints on the layout of the whole: lines, lists, sections, templates.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import { listedOptions } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import { sentences } from '../text/sentences.ts';
import {
  chunks,
  filledLines,
  lines,
  trimMarks,
  withoutLeadingMarks,
  withoutPunctuation,
} from './text/words.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

const indent = (line: string): number => line.length - line.trimStart().length;

/** Each line stands further in than the one before; blank lines are no steps, and one line is no stairs. */
export const lineIndent: Of<'format:line_indent'> = (response) => {
  const steps = filledLines(response).map(indent);
  return steps.length > 1 && steps.every((step, index) => index === 0 || step > steps[index - 1]!);
};

/** A list has at least two items; the separator begins their lines, or stands by itself between them. */
export const list: Of<'format:list'> = (response, { sep }) => {
  const mark = sep.trim();
  const begins = lines(response).filter((line) => line.trimStart().startsWith(mark)).length;
  return Math.max(begins, chunks(response).filter((chunk) => chunk === mark).length) >= 2;
};

export const newline: Of<'format:newline'> = (response) =>
  filledLines(withoutPunctuation(response)).every((line) => chunks(line).length === 1);

/** Two sentences that end in a full stop, then two bullets "*" or more, then nothing but what belongs to a bullet. */
export const bulletsAfterSentences: Of<'format:no_bullets_bullets'> = (response) => {
  const all = filledLines(response);
  const first = all.findIndex((line) => line.trimStart().startsWith('* '));
  if (first < 0) return false;
  const before = sentences(all.slice(0, first).join('\n')).filter((sentence) => sentence.endsWith('.'));
  const bullets = all.slice(first).filter((line) => line.trimStart().startsWith('* '));
  const foreign = all.slice(first).some((line) => !/^(?:\s|\* )/.test(line));
  return before.length >= 2 && bullets.length >= 2 && !foreign;
};

export const noWhitespace: Of<'format:no_whitespace'> = (response) => !/\s/.test(response);

/** Lettered choices are copied as they stand, "b)" and not "b"; of other options case and marks around do not matter. */
export const options: Of<'format:options'> = (response, { options: given }) => {
  const choices = listedOptions(given);
  if (/^\W*a\W*b\W*c/i.test(given)) return choices.includes(response.trim());
  const plain = (text: string): string => trimMarks(text).toLowerCase();
  return choices.map(plain).includes(plain(response));
};

const template = ['My Answer:', 'My Conclusion:', 'Future Outlook:'];

/** The three labels in their order, the first at the very start, each followed by its part. */
export const outputTemplate: Of<'format:output_template'> = (response) => {
  const text = withoutLeadingMarks(response);
  const at = template.map((label) => text.indexOf(label));
  const filled = at.every((start, index) =>
    /[\p{L}\p{N}]/u.test(text.slice(start + template[index]!.length, at[index + 1] ?? text.length)),
  );
  return at[0] === 0 && at[1]! > 0 && at[2]! > at[1]! && filled;
};

/** "* " at the margin of the list is a bullet, "- " further down until the next one its sub-bullet. */
export const subBullets: Of<'format:sub-bullets'> = (response) => {
  let [bullets, missing] = [0, false];
  let hasSub = true;
  for (const line of filledLines(response).map((filled) => filled.trimStart())) {
    if (line.startsWith('* ')) {
      missing ||= !hasSub;
      bullets++;
      hasSub = false;
    } else if (/^-(?!-)/.test(line)) hasSub = true;
  }
  return bullets > 0 && hasSub && !missing;
};

const heading = /^\s*(?:#{1,6}\s.*|<h[1-6][\s>].*|(?:-{3,}|\*{3,}|_{3,})\s*)$/i;
/** Other tags may stand before the italics: a section, a paragraph. */
const italicOpening = /^(?:\s|<(?!i>|em>|\/)[a-z][^<>]{0,80}>)*<(i|em)>/i;

/** What stands under each heading; the whole where there is none. An introduction before the first heading is no section. */
function sections(response: string): string[] {
  const found = [''];
  for (const line of lines(response)) {
    if (heading.test(line)) found.push('');
    else found[found.length - 1] += `${line}\n`;
  }
  return (found.length > 1 ? found.slice(1) : found).filter((section) => section.trim() !== '');
}

function beginsWithThesis(section: string): boolean {
  const opening = italicOpening.exec(section);
  if (opening === null) return false;
  const rest = section.slice(opening[0].length);
  const end = rest.toLowerCase().indexOf(`</${opening[1]!.toLowerCase()}>`);
  const isText = (text: string): boolean => /\p{L}/u.test(text.replace(/<[^<>]*>/g, ''));
  return end > 0 && isText(rest.slice(0, end)) && isText(rest.slice(end));
}

/** Every section begins with <i>…</i> or <em>…</em> and goes on in upright letters. */
export const thesis: Of<'format:thesis'> = (response) => {
  const all = sections(response);
  return all.length > 0 && all.every(beginsWithThesis);
};
