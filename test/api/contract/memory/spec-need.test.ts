// The need of whole specs: what is tuned, which accelerator, and the sizes that a spec says itself.
import { describe, expect, it } from 'vitest';
import { filledSpec } from '../../../../api/contract/expand.ts';
import { issuesOf } from '../../../../api/contract/issues.ts';
import { adapterCount, parameterCount } from '../../../../api/contract/memory/parameters.ts';
import { ownSizes, specNeed } from '../../../../api/contract/memory/spec-need.ts';
import type { SpecNeedOptions } from '../../../../api/contract/memory/spec-need.ts';
import type { ModelSizes } from '../../../../api/contract/model-shape.ts';
import type { JobSpec } from '../../../../api/contract/spec.ts';
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

/** Lines by name. */
const linesOf = (spec: JobSpec, rewardModels: ReadonlyMap<string, ModelSizes> = new Map()) =>
  linesWith(spec, { rewardModels });
const linesWith = (spec: JobSpec, known: SpecNeedOptions) =>
  new Map(specNeed(spec, ownSizes(spec)!, known).lines.map((line) => [line.name, line]));

describe('what is frozen beside the model', () => {
  const [first, second] = ['ckpt_00000000000000000001', 'ckpt_00000000000000000002'] as const;
  const stages = [
    { kind: 'rlhf', data: 'a', steps: 1, max_response: 64, grader: { type: 'preference', model: first } },
    { kind: 'instruction', data: 'b', steps: 1, max_response: 64, reward_model: second },
  ];

  it('is the reference of a stage with kl, once however many have it', () => {
    const spec = jobSpec.parse({ ...posted(), stages: stages.map((stage) => ({ ...stage, kl: 0.01 })) });
    expect(linesOf(spec).get('reference')?.bytes).toBe(4 * parameterCount(ownSizes(spec)!));
    expect(linesOf(jobSpec.parse({ ...posted(), stages })).has('reference')).toBe(false);
    expect(linesOf(jobSpec.parse(posted())).has('reward_models')).toBe(false);
  });

  it('are reward models, each once; those of unknown size are named', () => {
    const suite = { name: 's', data: 'a', measure: 'win_rate', grader: stages[0]!.grader };
    const spec = jobSpec.parse({ ...posted(), stages, evaluate: { suites: [suite] } });
    const sizes = { ...ownSizes(spec)!, scalarHead: true };
    const parameters = parameterCount(sizes);
    expect(linesOf(spec, new Map([[first, sizes]])).get('reward_models')).toEqual({
      name: 'reward_models',
      bytes: 4 * parameters,
      what: `${parameters} frozen parameters, F32; not counted, its size is not known: ${second}`,
    });
    const both = new Map([first, second].map((id) => [id, sizes]));
    expect(linesOf(spec, both).get('reward_models')?.bytes).toBe(8 * parameters);
  });
});

describe('teachers', () => {
  const math = { kind: 'math', data: 'a', steps: 1, max_response: 64 };
  const evaluate = { suites: [{ name: 'math', data: 'a', grader: { type: 'exact' } }] };
  const outside = 'ckpt_00000000000000000003';
  const distil = (domains?: object[]) => ({
    kind: 'distill',
    steps: 1,
    max_response: 100,
    ...(domains && { domains }),
  });
  const cascade = (...stages: object[]) => jobSpec.parse({ ...posted(), stages, evaluate });
  const taught = (...teachers: unknown[]) =>
    distil(teachers.map((teacher, index) => ({ domain: `d${index}`, data: 'a', teacher })));

  it('of the job itself have the sizes of the model, one at a time, also in a repair', () => {
    const own = cascade(math, distil());
    const parameters = parameterCount(ownSizes(own)!);
    const line = {
      name: 'teachers',
      bytes: 4 * parameters,
      what: `${parameters} frozen parameters of the largest teacher, F32`,
    };
    expect(linesOf(own).get('teachers')).toEqual(line);
    const require = { metric: 'math.non_thinking.avg@1', at_least: 0.5 };
    const gates = [{ after: 'math', require, otherwise: 'distill', repair: { max_response: 99 } }];
    const repaired = jobSpec.parse({ ...posted(), stages: [math], evaluate, gates });
    expect(linesOf(repaired).get('teachers')).toEqual(line);
    expect(linesOf(cascade(math)).has('teachers')).toBe(false);
  });

  it('from outside count as the largest that is known; the others are named', () => {
    const spec = cascade(math, taught('stage:math', outside, { uri: '/models/b' }));
    const large = { ...ownSizes(spec)!, layers: 8 };
    const parameters = parameterCount(large);
    expect(linesWith(spec, { teachers: new Map([[outside, large]]) }).get('teachers')).toEqual({
      name: 'teachers',
      bytes: 4 * parameters,
      what: `${parameters} frozen parameters of the largest teacher, F32; not counted, its size is not known: /models/b`,
    });
    const unknown = linesOf(cascade(math, taught(outside, outside))).get('teachers');
    expect(unknown).toEqual({
      name: 'teachers',
      bytes: 0,
      what: `not counted, its size is not known: ${outside}`,
    });
  });

  it('take the place of a reference, beside which they are never held', () => {
    const spec = cascade({ ...math, kl: 0.01 }, taught('stage:math', outside));
    const reference = 4 * parameterCount(ownSizes(spec)!);
    const large = { ...ownSizes(spec)!, layers: 8 };
    const teachers = new Map([[outside, large]]);
    const lines = linesWith(spec, { teachers });
    expect(lines.get('reference')?.bytes).toBe(reference);
    expect(lines.get('teachers')).toMatchObject({ bytes: 4 * parameterCount(large) - reference });
    expect(lines.get('teachers')?.what).toMatch(/less the reference/);
    expect(linesOf(spec).get('teachers')?.bytes).toBe(0);
  });

  it('score answers of the length that the stage trains', () => {
    const need = (stage: object) => linesOf(cascade(math, stage)).get('block_inputs')!.bytes;
    expect(need(distil())).toBeGreaterThan(need({ ...math, name: 'other' }));
  });
});

describe('a reward-model job', () => {
  it('trains one row in place of the words of the head', () => {
    const stage = { kind: 'reward_model', data: 'pairs', max_length: 64 };
    const { stages: _, ...rest } = posted();
    const spec = jobSpec.parse({ ...rest, type: 'reward_model', stage });
    const { vocabSize, hiddenSize, ...sizes } = ownSizes(spec)!;
    const language = parameterCount({ vocabSize, hiddenSize, ...sizes });
    const lines = linesOf(spec);
    expect(lines.get('weights')?.bytes).toBe(4 * (language - vocabSize * hiddenSize + hiddenSize));
    expect(lines.get('head')?.what).toBe('one value of a sequence');
    expect(lines.has('cache')).toBe(false);
  });
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
