// Uploading a model in Hugging Face layout: its files with size and hash first, then each file's bytes. The upload's id is
// the hash of that list, so the same model is one upload however often it is sent.
import { z } from 'zod';
import { modelType } from './model-shape.ts';
import { sha256 } from './names.ts';

/** The files of a model that a job reads. */
export const modelFileName = z
  .string()
  .regex(
    /^(?:(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map)\.json|chat_template\.jinja|[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.safetensors(?:\.index\.json)?)$/,
    'not a file of a model: config.json, generation_config.json, tokenizer.json, tokenizer_config.json, special_tokens_map.json, chat_template.jinja, *.safetensors and its index are',
  );

/** 500 GB, as on the hub. Object stores take 10,000 parts, so that a part, of which some are in memory, grows with the size. */
const largestFileBytes = 5e11;

export const modelFile = z.object({
  name: modelFileName,
  size: z.number().int().min(0).max(largestFileBytes),
  sha256,
});
export type ModelFile = z.infer<typeof modelFile>;

export const weightsName = 'model.safetensors';
export const weightsIndexName = 'model.safetensors.index.json';

/** What a model cannot do without, of the files that are there. */
export function missingModelFiles(names: readonly string[]): string[] {
  const needed = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];
  const missing = needed.filter((name) => !names.includes(name));
  const hasWeights = names.includes(weightsName) || names.includes(weightsIndexName);
  return hasWeights ? missing : [...missing, `${weightsName} (or ${weightsIndexName} with its shards)`];
}

export const modelUploadRequest = z.strictObject({
  files: z
    .array(modelFile)
    .min(1)
    .max(1_000)
    .refine((files) => new Set(files.map(({ name }) => name)).size === files.length, 'a name is listed twice')
    .superRefine((files, context) => {
      const missing = missingModelFiles(files.map(({ name }) => name));
      if (missing.length > 0)
        context.addIssue({ code: 'custom', message: `the model lacks ${missing.join(', ')}` });
    }),
});
export type ModelUploadRequest = z.infer<typeof modelUploadRequest>;

export const modelUploadId = sha256;

export const modelUpload = z
  .object({
    id: modelUploadId,
    uri: z.string().describe('for model.init {"from": "hf", "uri": …}, once nothing is missing'),
    missing: z.array(modelFileName).describe('files whose bytes have not come yet'),
  })
  .meta({ id: 'ModelUpload' });
export type ModelUpload = z.infer<typeof modelUpload>;

const config = z.looseObject({
  model_type: z.enum(modelType.options, {
    error: ({ input }) =>
      input === undefined
        ? 'is missing'
        : `${JSON.stringify(input)} is not supported: ${modelType.options.join(', ')} are`,
  }),
});

/** What is wrong with a config.json, undefined where the engine knows its family. */
export function modelConfigProblem(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    return `config.json is not JSON: ${(cause as Error).message}`;
  }
  const parsed = config.safeParse(json);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  return `config.json: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'not valid'}`.replace(/ {2,}/, ' ');
}
