// `model.tuning`: what is left out, what is refused and where, and what a runner gets.
import { describe, expect, test } from 'vitest';
import { expandSpec } from '../../../api/contract/expand.ts';
import { jobSpec } from '../../../api/contract/spec.ts';
import { loraModules } from '../../../api/contract/tuning.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import { moduleNameOf } from '../../../runner/engine/models/lora.ts';

const shape = {
  hidden_size: 64,
  intermediate_size: 48,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
};
const tokenizer = { type: 'characters', alphabet: 'ab' };

const spec = (tuning?: object, init: object = { from: 'config', config: shape, tokenizer }) => ({
  type: 'sft',
  model: { init, ...(tuning && { tuning }) },
  stage: { kind: 'sft', data: 'a' },
});

const expanded = (posted: object) =>
  expandSpec(jobSpec.parse(posted), new Map([['a', 'ds_0123456789abcdef0123']])).model.tuning;

const issuesOf = (posted: object) =>
  jobSpec
    .safeParse(posted)
    .error?.issues.map(({ path, message }) => `${path.join('/')}: ${message}`)
    .join('\n');

test('is full where nothing is said', () => {
  expect(expanded(spec())).toEqual({ method: 'full' });
});

test('lora: rank 64, alpha twice the rank, all linear layers, where nothing is said', () => {
  const hf = { from: 'hf', uri: '/models/a' };
  expect(expanded(spec({ method: 'lora' }, hf))).toEqual({
    method: 'lora',
    rank: 64,
    alpha: 128,
    target_modules: loraModules,
  });
  expect(expanded(spec({ method: 'lora', rank: 4 }, hf))).toMatchObject({ rank: 4, alpha: 8 });
  expect(expanded(spec({ method: 'lora', rank: 4, alpha: 3 }, hf))).toMatchObject({ alpha: 3 });
});

test('names the linear layers that the engine has', () => {
  expect([...loraModules]).toEqual(linearRoles.map(moduleNameOf));
});

describe('refuses', () => {
  test.each([
    [{ method: 'lora', rank: 0 }, /model\/tuning\/rank/],
    [{ method: 'lora', rank: 2.5 }, /model\/tuning\/rank/],
    [{ method: 'lora', alpha: 0 }, /model\/tuning\/alpha/],
    [{ method: 'lora', target_modules: [] }, /model\/tuning\/target_modules/],
    [{ method: 'lora', target_modules: ['lm_head'] }, /model\/tuning\/target_modules\/0/],
    [{ method: 'lora', target_modules: ['q_proj', 'q_proj'] }, /a module is named twice/],
    [{ method: 'lora', dropout: 0.1 }, /dropout/],
    [{ method: 'full', rank: 4 }, /rank/],
    [{ method: 'qlora' }, /model\/tuning/],
  ])('%j', (tuning, message) => {
    expect(issuesOf(spec({ ...(tuning.method === 'lora' && { rank: 4 }), ...tuning }))).toMatch(message);
  });

  test.each([
    [33, ['k_proj'], 'must be at most 32: k_proj'],
    [49, ['q_proj', 'down_proj'], 'must be at most 48: down_proj'],
    [65, ['o_proj'], 'must be at most 64: o_proj'],
  ])('a rank of %d for %j', (rank, target_modules, message) => {
    expect(issuesOf(spec({ method: 'lora', rank, target_modules }))).toMatch(`model/tuning/rank: ${message}`);
    expect(issuesOf(spec({ method: 'lora', rank: rank - 1, target_modules }))).toBeUndefined();
  });
});
