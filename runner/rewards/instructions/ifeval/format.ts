// IFEval's family `detectable_format`.
import type { ifevalArguments } from '../../../../api/contract/instructions/ifeval.ts';
import type { ChecksFor } from '../check.ts';

type Ids = `detectable_format:${string}`;
type Formats = { [Id in Extract<keyof typeof ifevalArguments, Ids>]: (typeof ifevalArguments)[Id] };

const answers = ['My answer is yes.', 'My answer is no.', 'My answer is maybe.'];

export const formatChecks: ChecksFor<Formats> = {
  'detectable_format:number_bullet_lists': (response, { num_bullets }) =>
    response.split('\n').filter(isBullet).length === num_bullets,
  'detectable_format:constrained_response': (response) => answers.some((answer) => response.includes(answer)),
  'detectable_format:number_highlighted_sections': (response, { num_highlights }) =>
    highlights(response, /\*[^\n*]*\*/g) + highlights(response, /\*\*[^\n*]*\*\*/g) >= num_highlights,
  /** The splitter with a number after it, as often as there are to be sections, or more. */
  'detectable_format:multiple_sections': (response, { section_spliter, num_sections }) => {
    const [, ...parts] = response.split(section_spliter.trim());
    return parts.filter((part) => /^\s?\p{Nd}/u.test(part)).length >= num_sections;
  },
  'detectable_format:json_format': (response) => isJson(withoutFence(response.trim()).trim()),
  /** `<<…>>` on one line, with something else than brackets inside. */
  'detectable_format:title': (response) => response.split('\n').some(hasTitle),
};

/** Any line that starts with a dash counts, a horizontal rule too, as in the original. */
function isBullet(line: string): boolean {
  const text = line.trimStart();
  return text.startsWith('-') || (text.startsWith('*') && text.length > 1 && text[1] !== '*');
}

const highlights = (response: string, form: RegExp): number =>
  (response.match(form) ?? []).filter((found) => found.replaceAll('*', '').trim() !== '').length;

/** At most one fence around the text, with or without the language. */
const withoutFence = (text: string): string =>
  text.replace(/^```(?:json|Json|JSON)?/, '').replace(/```$/, '');

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function hasTitle(line: string): boolean {
  const open = line.indexOf('<<');
  const close = line.lastIndexOf('>>');
  return (
    open >= 0 &&
    line
      .slice(open + 2, Math.max(close, 0))
      .replace(/^<+/, '')
      .replaceAll('>', '')
      .trim() !== ''
  );
}
