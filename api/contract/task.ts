// Rows of datasets: what one task of each kind looks like once foreign columns are mapped.
import { z } from 'zod';

export const message = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
});
export type Message = z.infer<typeof message>;

/** A string is one user message where the model has a chat template, else raw text. */
export const prompt = z.union([z.string().min(1), z.array(message).min(1)]);
export type Prompt = z.infer<typeof prompt>;

export const sftRow = z.strictObject({
  messages: z
    .array(message)
    .min(2)
    .refine(
      (messages) => messages.at(-1)?.role === 'assistant',
      'the last message must be the assistant’s: it is what is learnt',
    ),
});
export type SftRow = z.infer<typeof sftRow>;

/** `answer` is the gold; `prompt` what the model sees. An empty answer is a task whose right response is to end at once. */
export const mathRow = z.strictObject({
  prompt,
  answer: z.union([z.string(), z.number()]).transform(String),
});
export type MathRow = z.infer<typeof mathRow>;

export const datasetKind = z.enum(['sft', 'math']);
export type DatasetKind = z.infer<typeof datasetKind>;

export const rowSchemas = { sft: sftRow, math: mathRow } as const;
