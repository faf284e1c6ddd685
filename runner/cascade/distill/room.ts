// Whether a teacher has room for what it is to score. Prompts leave room for their answers in the policy's positions (../prompt.ts); a
// teacher from outside may have fewer, which no one knows before prompts are tokens.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { nameOfTeacher } from '../../../api/contract/teacher-places.ts';
import type { Teachers } from '../host.ts';
import type { PromptSource } from '../rl/source.ts';

/** A teacher that cannot score every answer that its domain may get. */
export class TeacherTooShort extends Error {
  override readonly name = 'TeacherTooShort';
}

/** `sources` of the stage's domains, in their order. Throws TeacherTooShort naming the first row that a teacher has no room for. */
export function checkRoom(
  { name, domains, max_response }: Pick<ExpandedDistillStage, 'name' | 'domains' | 'max_response'>,
  sources: readonly Pick<PromptSource, 'prompts'>[],
  { positionsOf }: Pick<Teachers, 'positionsOf'>,
): void {
  for (const [index, { domain, data, teacher }] of domains.entries()) {
    const positions = positionsOf(nameOfTeacher(teacher)) ?? Infinity;
    for (const prompts of sources[index]!.prompts.values()) {
      const row = prompts.findIndex(({ length }) => length + max_response > positions);
      if (row >= 0)
        throw new TeacherTooShort(
          `teacher ${nameOfTeacher(teacher)} of stage ${name}, domain ${domain}: the model has ${positions} positions; of dataset ${data}, row ${row}, it is to score ${prompts[row]!.length} prompt tokens and answers of up to ${max_response}: lower max_response, or leave such rows out`,
        );
    }
  }
}
