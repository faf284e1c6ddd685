// A model to talk to, from a directory in Hugging Face layout: weights, tokenizer, and what its own generation_config.json
// says of sampling. The only place where talking meets the sampler's own shapes.
import { z } from 'zod';
import { loadParameters } from '../engine/learner/parameter-set.ts';
import type { DecoderConfig } from '../engine/models/config.ts';
import { chooseOperands } from '../engine/models/operand-choice.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { Scope } from '../engine/ort/scope.ts';
import { SlotSampler } from '../engine/sampler/slot-sampler.ts';
import type { Tokenizer } from '../engine/tokenizer/tokenizer.ts';
import { InvalidModel, loadModel } from '../trainer/load-model.ts';

/** How words are drawn; the numbers of generation_config.json where a request gives none. */
export interface SamplingDefaults {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

export interface ChatModel extends Disposable {
  readonly config: DecoderConfig;
  readonly tokenizer: Tokenizer;
  readonly sampler: SlotSampler;
  readonly defaults: SamplingDefaults;
  /** Tokens that end an answer. */
  readonly endIds: readonly number[];
}

const endToken = z
  .union([z.int().min(0), z.array(z.int().min(0))])
  .nullish()
  .transform((ids) => (ids === null || ids === undefined ? [] : [ids].flat()));

/** What else such files say is for other ways to generate (beams, penalties). */
const generationConfig = z.object({
  eos_token_id: endToken,
  do_sample: z.boolean().nullish(),
  temperature: z.number().min(0).nullish(),
  top_k: z.int().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
});

/** Rows decoded at once, and tokens of prompt and answer together that each has room for. */
export interface Room {
  readonly rows: number;
  readonly contextTokens: number;
}

/** Throws InvalidModel, or an Error of the weights, naming file and fault. */
export async function openChatModel(
  runtime: Runtime,
  directory: string,
  { rows, contextTokens }: Room,
): Promise<ChatModel> {
  const { config, tokenizer, weights, files } = await loadModel(
    { from: 'hf', uri: directory },
    { datasets: {}, init: directory },
    0,
  );
  const generation = readGeneration(
    files.get('generation_config.json'),
    `${directory}/generation_config.json`,
  );
  const ends = endToken.safeParse(
    (JSON.parse(files.get('config.json')!) as { eos_token_id?: unknown }).eos_token_id,
  );
  const ids = [tokenizer.eosId, ...generation.eos_token_id, ...(ends.data ?? [])];
  const scope = new Scope();
  try {
    const { operands } = await chooseOperands(runtime);
    const loaded = scope.own(await loadParameters(runtime, config, weights));
    const sampled = { config, weights: loaded, form: { operands } };
    const limits = { rows, cacheTokens: rows * contextTokens };
    return {
      config,
      tokenizer,
      sampler: scope.own(new SlotSampler(runtime, sampled, limits)),
      defaults: defaultsOf(generation),
      endIds: [...new Set(ids)].filter((id) => id !== undefined && id < config.vocabSize) as number[],
      [Symbol.dispose]: () => scope[Symbol.dispose](),
    };
  } catch (error) {
    scope[Symbol.dispose]();
    throw error;
  }
}

function readGeneration(text: string | undefined, file: string): z.infer<typeof generationConfig> {
  if (text === undefined) return generationConfig.parse({});
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InvalidModel(`${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
  const parsed = generationConfig.safeParse(json);
  if (!parsed.success) throw new InvalidModel(`${file}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** `do_sample: false`, the likeliest word always, is what transformers takes for granted; chats are drawn unless it is said. */
function defaultsOf(given: z.infer<typeof generationConfig>): SamplingDefaults {
  return {
    temperature: given.do_sample === false ? 0 : (given.temperature ?? 1),
    topK: given.top_k ?? 0,
    topP: given.top_p ?? 1,
    minP: given.min_p ?? 0,
  };
}
