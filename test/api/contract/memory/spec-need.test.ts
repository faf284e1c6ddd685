// The need of whole specs: what is tuned, which accelerator, and the sizes that a spec says itself.
import { describe, expect, it } from 'vitest';
import { filledSpec } from '../../../../api/contract/expand.ts';
import { issuesOf } from '../../../../api/contract/issues.ts';
import { adapterCount, parameterCount } from '../../../../api/contract/memory/parameters.ts';
import { ownSizes, specNeed } from '../../../../api/contract/memory/spec-need.ts';
import { jobSpec } from '../../../../api/contract/spec.ts';
import { loraModules } from '../../../../api/contract/tuning.ts';

const config = {
  model_type: 'qwen3',
  hidden_size: 128,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
};
const tokenizer = { type: 'characters', alphabet: '0123' };
const posted = (tuning?: object) => ({
  type: 'cascade',
  model: { init: { from: 'config', config, tokenizer }, ...(tuning === undefined ? {} : { tuning }) },
  stages: [{ kind: 'math', data: 'tasks', steps: 1, max_response: 64 }],
  resources: { accelerator: 'cuda' },
});

describe('a spec', () => {
  it('is reckoned for its own accelerator and tuning', () => {
    const spec = jobSpec.parse(posted());
    const sizes = ownSizes(spec)!;
    expect(sizes).toMatchObject({ vocabSize: 8, headSize: 16, maxPositions: 2048 });
    const need = specNeed(spec, sizes);
    expect(need.accelerator).toBe('cuda');
    const spare = need.lines.find(({ name }) => name === 'spare')!.bytes;
    expect(specNeed(spec, sizes, { accelerator: 'cpu' })).toMatchObject({
      accelerator: 'cpu',
      bytes: need.bytes - spare,
    });
  });

  it('with LoRA freezes the model and trains its adapters', () => {
    const spec = jobSpec.parse(posted({ method: 'lora', rank: 8 }));
    const sizes = ownSizes(spec)!;
    const bytes = Object.fromEntries(specNeed(spec, sizes).lines.map((line) => [line.name, line.bytes]));
    const adapters = adapterCount(sizes, { method: 'lora', rank: 8, target_modules: loraModules });
    expect(bytes).toMatchObject({ frozen: 4 * parameterCount(sizes), moments: 8 * adapters });
    expect(filledSpec(spec).model.tuning).toMatchObject({ method: 'lora', rank: 8, alpha: 16 });
  });

  it('whose rank is above what a projection of explicit head size has is refused', () => {
    const refused = (rank: number): string[] => {
      const parsed = jobSpec.safeParse(posted({ method: 'lora', rank, target_modules: ['q_proj'] }));
      return parsed.success ? [] : issuesOf(parsed.error).map(({ pointer }) => pointer);
    };
    expect(refused(64)).toEqual([]);
    expect(refused(65)).toEqual(['/model/tuning/rank']);
  });
});
