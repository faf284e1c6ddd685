// Instruction by instruction: does the response follow it? For the verifier, for tests and for evaluation.
import {
  givenArguments,
  instructionArguments,
  isInstructionId,
} from '../../../api/contract/instructions/arguments.ts';
import type { InstructionId } from '../../../api/contract/instructions/arguments.ts';
import { askedText } from '../../../api/contract/prompt-text.ts';
import type { InstructionRow } from '../../../api/contract/task.ts';
import type { Check, CheckContext } from './check.ts';
import { ifbenchChecks } from './ifbench/checks.ts';
import { ifevalChecks } from './ifeval/checks.ts';
import { looseReadings } from './loose.ts';

export type CheckMode = 'strict' | 'loose';

const checks: { readonly [Id in InstructionId]: Check<never> } = { ...ifevalChecks, ...ifbenchChecks };

/**
 * One verdict for each id of the row, in its order. `response` is the text to judge, without a thinking block. Blank text follows
 * nothing. Throws for a row whose instructions or arguments the schema would refuse.
 */
export function verdicts(row: InstructionRow, response: string, mode: CheckMode): boolean[] {
  const context = { prompt: askedText(row.prompt) };
  const readings = (mode === 'strict' ? [response] : looseReadings(response)).filter(isVisible);
  return row.instruction_id_list.map((id, at) => {
    const follows = checkOf(id, row.kwargs[at] ?? {}, context);
    return readings.some(follows);
  });
}

function checkOf(
  id: string,
  kwargs: Readonly<Record<string, unknown>>,
  context: CheckContext,
): (response: string) => boolean {
  if (!isInstructionId(id)) throw new Error(`internal: no instruction ${JSON.stringify(id)}`);
  const args = instructionArguments[id].parse(givenArguments(kwargs)) as never;
  const check = checks[id];
  return (response) => check(response, args, context);
}

/** Something can be seen: characters without a shape (zero width spaces, fillers) are blank, too. */
const isVisible = (text: string): boolean =>
  /[\p{L}\p{N}\p{P}\p{S}]/u.test(text.replace(/[\u115f\u1160\u2800\u3164\uffa0]/g, ''));
