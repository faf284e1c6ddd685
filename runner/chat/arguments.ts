// What `millrace chat` passes on, checked once: every wrong value is named with its option.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { chatRequest } from '../../api/contract/chat.ts';
import { acceleratorSetting } from '../../api/contract/names.ts';

/** The command line cannot be meant. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
}

const { temperature, top_p, top_k, min_p, seed, max_tokens } = chatRequest.shape;
const number = (schema: z.ZodType<number | null | undefined>) =>
  z
    .string()
    .transform((text, context) => {
      const parsed = schema.safeParse(text.trim() === '' ? Number.NaN : Number(text));
      if (parsed.success) return parsed.data ?? undefined;
      context.addIssue({ code: 'custom', message: `${text}: ${parsed.error.issues[0]!.message}` });
      return z.NEVER;
    })
    .optional();

const options = z.object({
  model: z.string(),
  message: z.string().min(1, 'is empty').optional(),
  system: z.string().optional(),
  temperature: number(temperature),
  'top-p': number(top_p),
  'top-k': number(top_k),
  'min-p': number(min_p),
  'max-tokens': number(max_tokens),
  seed: number(seed),
  stop: z.string().min(1, 'is empty').optional(),
  context: number(z.int().min(1)),
  accelerator: acceleratorSetting,
  think: z.boolean().optional(),
  'no-think': z.boolean().optional(),
});
export type ChatArguments = z.infer<typeof options>;

/** Options whose values are texts; `cli/commands/chat.ts` passes them on under the same names. */
const textOptions = [
  'message',
  'system',
  'temperature',
  'top-p',
  'top-k',
  'min-p',
  'max-tokens',
  'seed',
  'stop',
  'context',
  'accelerator',
] as const;

/** @throws ArgumentsError. */
export function readArguments(words: readonly string[], env: NodeJS.ProcessEnv = process.env): ChatArguments {
  const texts = ['model', ...textOptions].map((name) => [name, { type: 'string' }] as const);
  const flags = ['think', 'no-think'].map((name) => [name, { type: 'boolean' }] as const);
  const { values } = parseArgs({ args: [...words], options: Object.fromEntries([...texts, ...flags]) });
  const parsed = options.safeParse({ accelerator: env['MILLRACE_ACCELERATOR'], ...values });
  if (!parsed.success)
    throw new ArgumentsError(
      parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'),
    );
  if (parsed.data.think && parsed.data['no-think'])
    throw new ArgumentsError('--think and --no-think: give one of them');
  return parsed.data;
}
