// Prompts as text, for what reads them and is no policy: graders, penalties, comparisons of data.
import type { Prompt } from './task.ts';

/** Every message, whoever wrote it. */
export const wholeText = (prompt: Prompt): string =>
  typeof prompt === 'string' ? prompt : prompt.map(({ content }) => content).join('\n');

/** Of several messages the last user's; empty where there is none. */
export const askedText = (prompt: Prompt): string =>
  typeof prompt === 'string' ? prompt : (prompt.findLast(({ role }) => role === 'user')?.content ?? '');
