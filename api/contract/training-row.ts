// Rows of training files as OpenAI's API has them, and what they are here: each answer that is to be learnt is a row of kind
// sft with the turns before it; a prompt to be answered is a row of whatever kind its grader takes.
import { z } from 'zod';
import { only, unsupported } from './openai-refused.ts';
import type { Message, SftRow } from './task.ts';

const textPart = z.strictObject({
  type: z.literal('text', { error: 'only parts of type "text" are supported' }),
  text: z.string(),
});

const turn = {
  content: z.union([z.string(), z.array(textPart).min(1)], { error: 'a text, or a list of text parts' }),
  refusal: z.null().optional(),
  name: unsupported('name', 'templates know no names: leave it out'),
  tool_calls: unsupported('tool_calls'),
  function_call: unsupported('function_call'),
};

const roles = {
  error: 'roles are system, developer (taken as system), user and assistant; tools are not supported',
};

const chatTurn = z
  .strictObject({
    role: z.enum(['system', 'developer', 'user', 'assistant'], roles),
    ...turn,
    weight: z
      .union([z.literal(0), z.literal(1)], { error: 'must be 0 or 1' })
      .nullish()
      .describe('of an assistant’s turn; 0: it is not learnt'),
  })
  .refine(({ role, weight }) => role === 'assistant' || (weight ?? null) === null, {
    path: ['weight'],
    error: 'goes with the assistant’s turns only',
  });
type ChatTurn = z.infer<typeof chatTurn>;

export const supervisedRow = z
  .strictObject({
    messages: z.array(chatTurn).min(2),
    tools: unsupported('tools'),
    functions: unsupported('functions'),
    parallel_tool_calls: only('parallel_tool_calls', false),
  })
  .refine(({ messages }) => messages.some((one, index) => index > 0 && isLearnt(one)), {
    path: ['messages'],
    error: 'no turn of the assistant that is to be learnt follows another turn',
  });

const isLearnt = ({ role, weight }: ChatTurn): boolean => role === 'assistant' && weight !== 0;

/** One row for each answer that is to be learnt, since a row of ours teaches its last turn. */
export const learntRows = ({ messages }: z.infer<typeof supervisedRow>): SftRow[] =>
  messages.flatMap((one, index) =>
    index > 0 && isLearnt(one) ? [{ messages: messages.slice(0, index + 1).map(messageOf) }] : [],
  );

/** The other columns are for graders. */
export const reinforcementRow = z.looseObject({
  messages: z
    .array(chatTurn)
    .min(1)
    .refine((messages) => messages.at(-1)?.role !== 'assistant', 'the last turn must be one to answer'),
  tools: unsupported('tools'),
  prompt: unsupported('prompt', 'what is to be answered stands in messages'),
});

export const promptOf = ({ messages }: z.infer<typeof reinforcementRow>): Message[] =>
  messages.map(messageOf);

const messageOf = ({ role, content }: ChatTurn): Message => ({
  role: role === 'developer' ? 'system' : role,
  content: typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
});
