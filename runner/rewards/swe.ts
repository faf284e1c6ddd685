// The swe grader: what a proposed change of source files is worth beside the gold patch, by similarity or a judge. It never
// executes anything, opens no file and knows no repository; the files are strings of the row.
//
// -1 for what cannot be read as a change or does not apply, 0 for no change, 1 for the gold's own change, in between the
// similarity of the two diffs (SWE-RL, arXiv 2502.18449; Nemotron-Cascade, arXiv 2512.13607, Eq. 2 without its judge).
import type { SweRow } from '../../api/contract/task.ts';
import { answerPart } from './answer-part.ts';
import type { Reward } from './reward.ts';
import { invalid, scored, unscored } from './reward.ts';
import { applyBlocks } from './swe/apply-blocks.ts';
import { applyPatch } from './swe/apply-patch.ts';
import { parseBlocks } from './swe/blocks.ts';
import type { FileTree } from './swe/file-tree.ts';
import { PatchError } from './swe/file-tree.ts';
import { parsePatch } from './swe/patch.ts';
import { goldChange, sweFaults } from './swe/row.ts';
import { changeDiff, changeSimilarity, changedPaths } from './swe/similarity.ts';
import { TooMuchWork } from './swe/work.ts';
import type { Verifier } from './verifier.ts';

/** Characters after the thinking block; several times what 16K tokens of source text are. */
export const LONGEST_ANSWER = 262_144;

/** What cannot be read, whatever the cause: the paper's value. */
const UNPARSABLE = -1;

/** What a judge says of a change, written as a diff, that is neither empty nor the gold's own. */
export type JudgeChange = (row: SweRow, diff: string) => Promise<Reward>;

/** By similarity, or by P(yes) of a judge where there is one (Nemotron-Cascade, Eq. 2). */
export const sweVerifier = (judge?: JudgeChange): Verifier<SweRow> => ({
  grade: (row, response) => sweReward(row, response, judge),
  maxScore: () => 1,
  rowFault: async (row) => sweFaults(row)[0],
  goldResponse: ({ patch }) => `\`\`\`diff\n${patch}${patch.endsWith('\n') ? '' : '\n'}\`\`\``,
});

async function sweReward(row: SweRow, response: string, judge: JudgeChange | undefined): Promise<Reward> {
  const gold = goldChange(row);
  if ('faults' in gold) return unscored('broken_row', gold.faults.join('; '));
  const { before, after } = gold;
  let predicted: FileTree;
  try {
    predicted = answered(before, response);
  } catch (error) {
    if (error instanceof PatchError) return invalid('unparsable', UNPARSABLE, error.message);
    throw error;
  }
  if (changedPaths(before, predicted).size === 0)
    return scored(0, { lexical: 0 }, 'the answer changes nothing');
  try {
    if (judge !== undefined && changedPaths(after, predicted).size > 0)
      return await judge(row, changeDiff(before, predicted));
    const lexical = changeSimilarity(before, predicted, after);
    return scored(lexical, { lexical });
  } catch (error) {
    if (error instanceof TooMuchWork) return scored(0, { lexical: 0 }, error.message);
    throw error;
  }
}

/** The files after the answer's change: its search/replace blocks where it has any, else its diffs. Throws `PatchError`. */
function answered(before: FileTree, response: string): FileTree {
  const answer = answerPart(response);
  if (answer === undefined) throw new PatchError('the thinking block never ended');
  if (answer.length > LONGEST_ANSWER)
    throw new PatchError(`the answer has more than ${LONGEST_ANSWER} characters`);
  const blocks = parseBlocks(answer);
  if (blocks.length > 0) return applyBlocks(before, blocks);
  const patches = parsePatch(answer);
  if (patches.length === 0) throw new PatchError('neither a search/replace block nor a diff');
  return applyPatch(before, patches);
}
