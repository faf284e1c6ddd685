// Chat completions as OpenAI's API has them, as far as an engine of ours answers them. A field of theirs that would change
// the answer and is not computed here is refused by name, never ignored; what only marks a request is taken and unused.
import { z } from 'zod';
import { only, unsupported } from './openai-refused.ts';
import { truncation } from './truncation.ts';

const textPart = z.strictObject({
  type: z.literal('text', { error: 'only parts of type "text" are supported' }),
  text: z.string(),
});

const chatMessage = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant'], {
    error: 'roles are system, developer (taken as system), user and assistant; tools are not supported',
  }),
  content: z.union([z.string(), z.array(textPart).min(1)], { error: 'a text, or a list of text parts' }),
  reasoning_content: z
    .string()
    .nullish()
    .describe('of an assistant’s turn: its thinking, for templates that take it'),
  name: z.string().nullish().describe('taken and unused'),
  // As the official clients hand an answer back.
  refusal: z.null().optional(),
  annotations: z.array(z.record(z.string(), z.unknown())).max(0).nullish(),
  audio: unsupported('audio'),
  tool_calls: unsupported('tool_calls'),
  function_call: unsupported('function_call'),
});
export type ChatMessage = z.infer<typeof chatMessage>;

const marks = {
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.enum(['auto', 'default'], { error: 'tiers are auto and default' }).nullish(),
  store: only('store', false),
};

const refused = {
  frequency_penalty: only('frequency_penalty', 0),
  presence_penalty: only('presence_penalty', 0),
  logprobs: only('logprobs', false),
  top_logprobs: only('top_logprobs', 0),
  response_format: z
    .strictObject(
      { type: z.literal('text') },
      { error: 'only the response_format {"type":"text"} is supported' },
    )
    .nullish(),
  tools: unsupported('tools'),
  tool_choice: only('tool_choice', 'none'),
  parallel_tool_calls: z.boolean().nullish().describe('without tools it asks for nothing'),
  functions: unsupported('functions'),
  function_call: only('function_call', 'none'),
  modalities: z.tuple([z.literal('text')], { error: 'the only modality is text' }).nullish(),
  audio: unsupported('audio'),
  prediction: unsupported('prediction'),
  reasoning_effort: unsupported(
    'reasoning_effort',
    'thinking is on or off, by chat_template_kwargs {"enable_thinking": …}',
  ),
  verbosity: unsupported('verbosity'),
  web_search_options: unsupported('web_search_options'),
};

const tokenCount = z.number().int().min(1).max(2_147_483_647);
const stopString = z.string().min(1, 'a stop string is empty: it would end every answer').max(500);

export const chatRequest = z
  .strictObject({
    model: z.string().min(1).max(200).describe('id of a checkpoint, or a name that a runner serves'),
    messages: z.array(chatMessage).min(1).max(10_000),
    stream: z.boolean().nullish(),
    stream_options: z
      .strictObject({
        include_usage: z.boolean().nullish(),
        include_obfuscation: only('include_obfuscation', false),
      })
      .nullish(),
    max_completion_tokens: tokenCount.nullish().describe('default: what the context has room for'),
    max_tokens: tokenCount.nullish().describe('the old name of max_completion_tokens'),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .describe('0: the likeliest word; default: the model’s own, else 1'),
    top_p: truncation.top_p.unwrap().nullish(),
    top_k: truncation.top_k.unwrap().nullish().describe('not OpenAI’s; 0: all words'),
    min_p: truncation.min_p.unwrap().nullish().describe('not OpenAI’s; 0: all words'),
    logit_bias: z
      .record(z.string().regex(/^\d{1,9}$/, 'keys are token ids'), z.number().min(-100).max(100))
      .refine((bias) => Object.keys(bias).length <= 1_000, 'at most 1000 tokens')
      .nullish(),
    stop: z
      .union([stopString, z.array(stopString).max(16)], { error: 'a text, or a list of at most 16' })
      .nullish()
      .describe('texts that end the answer, themselves left out; looked for after the thinking'),
    seed: z.number().int().nullish().describe('the same seed and request give the same draws'),
    n: z.number().int().min(1).max(16).nullish(),
    chat_template_kwargs: z
      .strictObject({ enable_thinking: z.boolean().nullish() })
      .nullish()
      .describe('thinking on (default where the model has it) or off'),
    ...marks,
    ...refused,
  })
  .refine(
    ({ max_tokens, max_completion_tokens }) =>
      (max_tokens ?? max_completion_tokens) === (max_completion_tokens ?? max_tokens),
    { path: ['max_tokens'], error: 'differs from max_completion_tokens: send one of them' },
  )
  .meta({ id: 'ChatRequest' });
export type ChatRequest = z.infer<typeof chatRequest>;

const finishReason = z.enum(['stop', 'length']);
export type FinishReason = z.infer<typeof finishReason>;

const usage = z.object({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  total_tokens: z.number().int(),
});
export type Usage = z.infer<typeof usage>;

const answerFields = { id: z.string(), created: z.number().int(), model: z.string() };

export const chatChunk = z
  .object({
    ...answerFields,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.object({
        index: z.number().int().min(0).max(15),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          reasoning_content: z.string().optional(),
        }),
        logprobs: z.null(),
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: usage.nullish().describe('of the last chunk, for stream_options.include_usage'),
  })
  .meta({ id: 'ChatChunk' });
export type ChatChunk = z.infer<typeof chatChunk>;

export const chatCompletion = z
  .object({
    ...answerFields,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.number().int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string(),
          reasoning_content: z.string().optional().describe('the thinking, where there was any'),
          refusal: z.null(),
        }),
        logprobs: z.null(),
        finish_reason: finishReason,
      }),
    ),
    usage,
  })
  .meta({ id: 'ChatCompletion' });
export type ChatCompletion = z.infer<typeof chatCompletion>;

export const servedModel = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.number().int().describe('seconds since 1970: when its runner registered'),
    owned_by: z.literal('millrace'),
  })
  .meta({ id: 'ServedModel' });
export const servedModels = z.object({ object: z.literal('list'), data: z.array(servedModel) });
