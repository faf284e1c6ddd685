// Which head the checkpoints that a spec names must have: those to begin with and to learn from answer, those to score with score.
import { expect, it } from 'vitest';
import { headIssues } from '../../../api/contract/heads.ts';
import type { ModelSizes } from '../../../api/contract/model-shape.ts';
import { modelSizes } from '../../../api/contract/model-shape.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

const sizes = (architecture: string) =>
  modelSizes.parse({
    architectures: [architecture],
    model_type: 'llama',
    vocab_size: 8,
    hidden_size: 8,
    intermediate_size: 8,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    max_position_embeddings: 8,
  });
const languageModel = sizes('LlamaForCausalLM');
const rewardModel = sizes('LlamaForSequenceClassification');

const none = { rewardModels: new Map<string, ModelSizes>() };
const id = 'ckpt_01234567890123456789012345';
const spec = jobSpec.parse({
  type: 'cascade',
  model: { init: { from: 'checkpoint', checkpoint: id } },
  stages: [{ kind: 'rlhf', data: 'pairs', steps: 1, grader: { type: 'preference', model: id } }],
});

it('is named where it is the wrong one, and not looked for where the checkpoint is not known', () => {
  const places = (...models: Parameters<typeof headIssues>) =>
    headIssues(...models).map(({ pointer }) => pointer);
  const scoring = (model: ModelSizes) => ({ rewardModels: new Map([[id, model]]) });
  expect(places(spec, languageModel, scoring(rewardModel))).toEqual([]);
  expect(places(spec, undefined, none)).toEqual([]);
  expect(places(spec, rewardModel, scoring(languageModel))).toEqual([
    '/model/init/checkpoint',
    '/stages/0/grader/model',
  ]);
});

it('may be a scalar one where a reward model is trained on', () => {
  const training = jobSpec.parse({
    type: 'reward_model',
    model: spec.model,
    stage: { kind: 'reward_model', data: 'pairs' },
  });
  expect(headIssues(training, rewardModel, none)).toEqual([]);
});

it('is a language model’s where it teaches', () => {
  const domains = [{ domain: 'math', data: 'rows', teacher: id }];
  const taught = jobSpec.parse({
    type: 'distill',
    model: spec.model,
    stage: { kind: 'distill', steps: 1, domains },
  });
  const teaching = (model: ModelSizes) => ({ ...none, teachers: new Map([[id, model]]) });
  expect(headIssues(taught, languageModel, teaching(languageModel))).toEqual([]);
  expect(headIssues(taught, languageModel, teaching(rewardModel))).toEqual([
    {
      pointer: '/stage/domains/0/teacher',
      message: expect.stringMatching(`^${id} is a reward model, .* a teacher is a language model`) as unknown,
    },
  ]);
});
