// Faults of the job behind one of OpenAI's form, told by the fields that its client sent.
import type { Issue } from '../contract/issues.ts';
import { inWords, ProblemError } from '../problem.ts';

const stage = '/stages?(?:/0)?';

/** Beginning of a pointer into the job's spec, and the field that it comes from; the longest first. */
const origins: readonly (readonly [RegExp, string])[] = [
  [/^\/model(\/.*)?$/, '/model'],
  [new RegExp(`^${stage}/data$`), '/training_file'],
  [/^\/evaluate\/suites\/0\/data$/, '/validation_file'],
  [new RegExp(`^${stage}/grader`), '/method/reinforcement/grader'],
  [new RegExp(`^${stage}/(?:batch|prompts_per_step)$`), '/hyperparameters/batch_size'],
  [new RegExp(`^${stage}/(?:epochs|steps)$`), '/hyperparameters/n_epochs'],
  [new RegExp(`^${stage}/lr$`), '/hyperparameters/learning_rate_multiplier'],
  [new RegExp(`^${stage}/(max_length|max_response)$`), '/hyperparameters/$1'],
  [/^\/name$/, '/suffix'],
];

function theirPointer(pointer: string): string {
  const origin = origins.find(([pattern]) => pattern.test(pointer));
  return origin === undefined ? pointer : pointer.replace(origin[0], origin[1]);
}

export const theirIssues = (issues: readonly Issue[]): Issue[] =>
  issues.map(({ pointer, message }) => ({ pointer: theirPointer(pointer), message }));

/** The same error with their fields; anything else as it is. */
export function inTheirWords(error: unknown): unknown {
  if (!(error instanceof ProblemError) || error.issues === undefined) return error;
  const issues = theirIssues(error.issues);
  return new ProblemError(error.code, error.code === 'invalid_spec' ? inWords(issues) : error.message, {
    issues,
    headers: error.headers,
    cause: error,
  });
}
