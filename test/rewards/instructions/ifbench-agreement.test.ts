// Our verdicts beside those that the original's evaluation published for the sample responses. Every difference is named with its
// cause; one more or one less fails. (The same list, in words, is in docs/graders/ifbench.md.)
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { instructionRow } from '../../../api/contract/task.ts';
import type { CheckMode } from '../../../runner/rewards/instructions/verdicts.ts';
import { verdicts } from '../../../runner/rewards/instructions/verdicts.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

const apostrophes =
  "format:quotes: the original takes apostrophes (don't, one's) for opened and closed quotation marks; there are two levels";
const boldAsBullets =
  'format:sub-bullets: the original parts the text at every "*", so that "**bold**" is bullets without sub-bullets';
const tagger =
  "words:start_verb: nltk's tagger takes a capitalised imperative for a noun; compromise knows it as a verb";
const characterTrigrams =
  'ratio:overlap: the published verdicts compare trigrams of characters; the original has since been corrected to words';
const oneLine =
  'format:line_indent: the original takes a single line for stairs; the loose readings leave one';
const blankLine = 'format:no_bullets_bullets: in the original a blank line ends the sentences or the list';
const hyphens =
  'words:odd_even_syllables: the original joins "Even-numbered" to a word that its dictionary lacks, and miscounts its syllables';

/** `<key>[<index>]` -> cause. */
const differences: Readonly<Record<CheckMode, Readonly<Record<string, string>>>> = {
  strict: {
    '118[0]': apostrophes,
    '120[0]': apostrophes,
    '128[0]': boldAsBullets,
    '132[0]': boldAsBullets,
    '148[0]': characterTrigrams,
    '257[0]': tagger,
    '261[0]': tagger,
  },
  loose: {
    '80[0]': oneLine,
    '98[0]': blankLine,
    '118[0]': apostrophes,
    '120[0]': apostrophes,
    '148[0]': characterTrigrams,
    '233[0]': hyphens,
    '257[0]': tagger,
    '261[0]': tagger,
  },
};

interface Published extends Readonly<Record<CheckMode, readonly boolean[]>> {
  readonly key: string;
}

const jsonLines = <Row>(name: string): Row[] =>
  readFileSync(testData(`ifbench/${name}`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

function publishedRows() {
  return jsonLines<{ key: string; prompt: string }>('IFBench_test.jsonl').map(({ key, ...row }) => ({
    key,
    row: instructionRow.parse(row),
  }));
}

/** As the original finds them: white space around a prompt does not matter. */
const responses = () =>
  new Map(
    jsonLines<{ prompt: string; response: string }>('sample_output.jsonl').map((one) => [
      one.prompt.trim(),
      one.response,
    ]),
  );

/** Every published verdict as `<key>[<index>] <id>`, and whether ours is the same. */
function compared(mode: CheckMode) {
  const rows = new Map(publishedRows().map(({ key, row }) => [key, row]));
  const answers = responses();
  return jsonLines<Published>('expected.jsonl').flatMap((published) => {
    const row = rows.get(published.key)!;
    const ours = verdicts(row, answers.get(String(row.prompt).trim())!, mode);
    return published[mode].map((verdict, index) => ({
      at: `${published.key}[${index}]`,
      id: row.instruction_id_list[index]!,
      same: verdict === ours[index],
    }));
  });
}

describe.skipIf(testDataDir === undefined)(`IFBench as published (${testDataDir ?? noTestData})`, () => {
  it('all 300 rows register', () => expect(publishedRows()).toHaveLength(300));

  it.each<CheckMode>(['strict', 'loose'])('%s: only the listed verdicts differ', (mode) => {
    const all = compared(mode);
    const differing = all.filter(({ same }) => !same);
    expect(all).toHaveLength(163);
    expect(differing.map(({ at, id }) => `${at} ${id}`).sort()).toEqual(
      Object.entries(differences[mode])
        .map(([at, cause]) => `${at} ${cause.split(': ')[0]}`)
        .sort(),
    );
    expect(1 - differing.length / all.length).toBeGreaterThanOrEqual(0.95);
  });
});
