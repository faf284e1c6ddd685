// What of a row a judge reads.
import type { Prompt } from '../../../api/contract/task.ts';

/** A conversation as a judge reads it. */
export function promptText(prompt: Prompt): string {
  if (typeof prompt === 'string') return prompt;
  return prompt.map(({ role, content }) => `[${role}]\n${content}`).join('\n\n');
}
