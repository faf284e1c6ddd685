// `adapter_config.json` as the Python library PEFT writes and reads it, for LoRA on linear layers and nothing else: whatever would
// make the adapter compute something different is refused by name, never ignored.
import { z } from 'zod';

export interface AdapterConfig {
  readonly rank: number;
  readonly alpha: number;
  /** Last parts of the adapted layers' names (`q_proj`). */
  readonly targetModules: readonly string[];
  /** Where the adapted model is: a directory, a URI or a name on the hub; null where it is nowhere to be fetched. */
  readonly base: string | null;
}

const off = (what: string) =>
  z
    .custom<unknown>(isOff, { error: `${what} is not supported: only plain LoRA on linear layers is` })
    .optional();

/** What PEFT writes for a feature that is not used. */
function isOff(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false;
}

/** Fields that say nothing about what an adapter computes. */
const silent = [
  'auto_mapping',
  'inference_mode',
  'lora_dropout',
  'megatron_core',
  'peft_version',
  'qalora_group_size',
  'revision',
] as const;

const fields = z
  .looseObject({
    peft_type: z.literal('LORA', {
      error: ({ input }) => `PEFT type ${JSON.stringify(input)} is not supported, only "LORA" is`,
    }),
    task_type: z
      .literal('CAUSAL_LM', {
        error: ({ input }) => `task type ${JSON.stringify(input)} is not supported, only "CAUSAL_LM" is`,
      })
      .nullish(),
    r: z.int().positive(),
    lora_alpha: z.number().positive(),
    target_modules: z
      .array(z.string().min(1), {
        error: 'must be a list of layer names; a pattern or "all-linear" is not supported',
      })
      .min(1),
    base_model_name_or_path: z.string().nullish(),
    bias: z.literal('none', { error: 'trained biases are not supported' }).nullish(),
    use_dora: off('DoRA'),
    use_rslora: off('rank-stabilised scaling (rsLoRA)'),
    // PiSSA, OLoRA, LoftQ and their like change the base weights: the adapter does not fit those of the named base.
    init_lora_weights: z
      .union([z.boolean(), z.literal('gaussian')], { error: 'only true, false and "gaussian" are supported' })
      .optional(),
  })
  .superRefine((given, context) => {
    const known = new Set<string>([...Object.keys(fields.shape), ...silent]);
    for (const [key, value] of Object.entries(given))
      if (!known.has(key) && !isOff(value))
        context.addIssue({
          code: 'custom',
          path: [key],
          message: `${JSON.stringify(value)} is not supported: only plain LoRA on linear layers is`,
        });
  });

/** Of parsed JSON; `source` is the file, named in every complaint. */
export function parseAdapterConfig(json: unknown, source: string): AdapterConfig {
  const parsed = fields.safeParse(json);
  if (!parsed.success)
    throw new Error(`${source}: unsupported or malformed adapter:\n${z.prettifyError(parsed.error)}`);
  const { r, lora_alpha, target_modules, base_model_name_or_path } = parsed.data;
  return {
    rank: r,
    alpha: lora_alpha,
    targetModules: [...new Set(target_modules)].sort(),
    base: base_model_name_or_path ?? null,
  };
}

/** What PEFT's `PeftModel.from_pretrained` reads, with every switch that it would otherwise guess. */
export const peftConfig = ({ rank, alpha, targetModules, base }: AdapterConfig): Record<string, unknown> => ({
  alpha_pattern: {},
  auto_mapping: null,
  base_model_name_or_path: base,
  bias: 'none',
  fan_in_fan_out: false,
  inference_mode: true,
  init_lora_weights: true,
  layer_replication: null,
  layers_pattern: null,
  layers_to_transform: null,
  lora_alpha: alpha,
  lora_dropout: 0,
  modules_to_save: null,
  peft_type: 'LORA',
  r: rank,
  rank_pattern: {},
  revision: null,
  target_modules: [...targetModules].sort(),
  task_type: 'CAUSAL_LM',
  use_dora: false,
  use_rslora: false,
});
