// 1 where the response follows every instruction of its row, else 0. Only the text after the thinking block is judged.
import type { InstructionRow } from '../../api/contract/task.ts';
import { answerPart } from './answer-part.ts';
import type { CheckMode } from './instructions/verdicts.ts';
import { verdicts } from './instructions/verdicts.ts';
import { invalid, scored } from './reward.ts';
import type { Verifier } from './verifier.ts';

/** `parts` has 1 or 0 for each instruction, under `<index>:<id>`. A row carries no solution: its gold is unproven. */
export function instructionsVerifier({ check }: { readonly check: CheckMode }): Verifier<InstructionRow> {
  return {
    grade: async (row, response) => {
      const part = answerPart(response);
      if (part === undefined) return invalid('no_answer');
      const followed = verdicts(row, part, check);
      const keys = row.instruction_id_list.map((id, at) => `${at}:${id}`);
      const missed = keys.filter((_, at) => followed[at] !== true);
      return scored(
        missed.length === 0 ? 1 : 0,
        Object.fromEntries(keys.map((key, at) => [key, followed[at] === true ? 1 : 0])),
        missed.length === 0 ? undefined : `not followed: ${missed.join(', ')}`,
      );
    },
    maxScore: () => 1,
    goldResponse: () => undefined,
  };
}
