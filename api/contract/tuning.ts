// What a job trains: the whole model, or low-rank adapters beside frozen weights (LoRA, arXiv 2106.09685). Defaults: the rank
// is that of the published LoRA replication of Nemotron-Cascade's RL; alpha and the targets are our choice, after PEFT's habits.
import { z } from 'zod';

/** Linear layers of a block by the names that Hugging Face and PEFT give them. */
export const loraModules = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

const fullTuning = z.strictObject({ method: z.literal('full') });

const loraTuning = z.strictObject({
  method: z.literal('lora'),
  rank: z
    .int()
    .min(1)
    .max(4096)
    .default(64)
    .describe('r; at most the smaller side of every matrix that is adapted'),
  alpha: z
    .number()
    .positive()
    .max(1e6)
    .optional()
    .describe('the adapter’s product is multiplied by alpha / rank; default 2 x rank'),
  target_modules: z
    .array(z.enum(loraModules))
    .min(1)
    .refine((names) => new Set(names).size === names.length, 'a module is named twice')
    .default([...loraModules])
    .describe('linear layers that get an adapter, in every block; default all seven'),
});

export const tuning = z
  .discriminatedUnion('method', [fullTuning, loraTuning])
  .prefault({ method: 'full' })
  .describe('full: every weight; lora: adapters alone, learning rates about ten times those of full');

/** As a runner executes it: nothing left open. */
export const expandedTuning = z.discriminatedUnion('method', [
  fullTuning,
  loraTuning.extend({ alpha: z.number().positive() }),
]);
export type ExpandedTuning = z.infer<typeof expandedTuning>;

export const expandTuning = (given: z.infer<typeof tuning>): ExpandedTuning =>
  given.method === 'full' ? given : { ...given, alpha: given.alpha ?? 2 * given.rank };

interface BlockShape {
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads?: number | undefined;
}

/** The module, and the rank that its matrix has at most, where the adapters' rank is above that; undefined where all fit. */
export function moduleOfLesserRank(
  given: z.infer<typeof tuning>,
  { hidden_size, intermediate_size, num_attention_heads, num_key_value_heads }: BlockShape,
): { readonly module: string; readonly most: number } | undefined {
  if (given.method === 'full') return undefined;
  const keyWidth = (hidden_size / num_attention_heads) * (num_key_value_heads ?? num_attention_heads);
  const smallerSide = (module: string): number => {
    if (module === 'q_proj' || module === 'o_proj') return hidden_size;
    return Math.min(hidden_size, module === 'k_proj' || module === 'v_proj' ? keyWidth : intermediate_size);
  };
  return given.target_modules
    .map((module) => ({ module, most: smallerSide(module) }))
    .find(({ most }) => given.rank > most);
}
