// Every default of every kind of stage, and of the rest of a spec, says where it comes from; and no citation is of nothing.
import { describe, expect, it } from 'vitest';
import { citationAt, envelopeCitations, stageCitations } from '../../../api/contract/citations.ts';
import type { StageKind } from '../../../api/contract/citations.ts';
import { defaultsOf } from '../../../api/contract/default-sources.ts';
import { defaultedFields, leaves } from '../../../api/contract/defaults.ts';
import { filledSpec } from '../../../api/contract/expand.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

const model = {
  init: {
    from: 'config',
    config: { hidden_size: 64, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 1 },
    tokenizer: { type: 'characters', alphabet: 'ab' },
  },
};
const judge = { url: 'https://judge.example/v1', model: 'judge' };
const given = { type: 'judge', ...judge, prompt: 'yes_no' };
const taught = [{ domain: 'a', data: 'rows', teacher: { uri: '/models/a' } }];
const domains = ['a', 'b'].map((domain) => ({ domain, data: 'rows', grader: given }));

/** The least that a stage of each kind is posted with, once more with a grader given where a kind has one of its own. */
const least: Readonly<Record<StageKind, readonly object[]>> = {
  sft: [{ data: 'rows' }],
  reward_model: [{ data: 'rows' }],
  rlhf: [{ data: 'rows', steps: 1, grader: given }],
  instruction: [
    { data: 'rows', steps: 1 },
    { data: 'rows', steps: 1, grader: given },
    { data: 'rows', steps: 1, filter: { type: 'epoch' } },
  ],
  math: [
    { data: 'rows', steps: 1 },
    { data: 'rows', steps: 1, filter: { type: 'batch' } },
  ],
  code: [{ data: 'rows', steps: 1 }],
  swe: [
    { data: 'rows', steps: 1 },
    { data: 'rows', steps: 1, grader: { type: 'swe', reward: 'judge', judge } },
  ],
  multi_domain: [{ steps: 1, domains }],
  mixed: [{ steps: 1, domains }],
  distill: [
    { steps: 1, domains: taught },
    { steps: 1, domains: taught, objective: { type: 'divergence' } },
  ],
};
const kinds = Object.keys(least) as StageKind[];

const posted = (kind: StageKind, stage: object) =>
  kind === 'reward_model'
    ? { type: kind, model, stage: { kind, ...stage } }
    : { type: 'cascade', model, stages: [{ kind, ...stage }] };

const pointersOf = (kind: StageKind, stage: object): string[] => {
  const spec = posted(kind, stage);
  return defaultedFields(spec, filledSpec(jobSpec.parse(spec)));
};

describe('every default', () => {
  it.each(kinds.flatMap((kind) => least[kind].map((stage) => [kind, stage] as const)))(
    'of %s has a source',
    (kind, stage) => {
      const pointers = pointersOf(kind, stage).flatMap((one) => /^\/stages\/0(.*)/.exec(one)?.[1] ?? []);
      expect(pointers.length).toBeGreaterThan(10);
      expect(pointers.filter((one) => citationAt(stageCitations[kind], one) === undefined)).toEqual([]);
    },
  );

  it.each(['full', 'lora'])('of the rest of a spec with %s tuning has a source', (method) => {
    const suites = [{ name: 's', data: 'rows', grader: { type: 'exact' } }];
    const spec = {
      ...posted('sft', { data: 'rows' }),
      model: { ...model, tuning: { method } },
      evaluate: { suites },
    };
    const pointers = defaultedFields(spec, filledSpec(jobSpec.parse(spec)));
    const rest = pointers.filter((one) => !one.startsWith('/stages'));
    expect(rest.length).toBeGreaterThan(20);
    expect(rest.filter((one) => citationAt(envelopeCitations, one) === undefined)).toEqual([]);
  });
});

it.each<[string, object]>([
  ['evaluate', { evaluate: { suites: [{ name: 's', data: 'rows', grader: { type: 'exact' } }] } }],
  ['sft', { stage: { kind: 'sft', data: 'rows' } }],
  ['reward_model', { stage: { kind: 'reward_model', data: 'pairs' } }],
])('every default of a job of type %s has a source', (type, rest) => {
  const spec = { type, model, ...rest };
  const { omitted: _, ...expanded } = filledSpec(jobSpec.parse(spec));
  expect(defaultsOf(spec, expanded).length).toBeGreaterThan(10);
});

it.each(kinds)('the citations of %s are of fields that it fills in', (kind) => {
  const known = least[kind].flatMap((stage) =>
    [...leaves(filledSpec(jobSpec.parse(posted(kind, stage))))].map(({ pointer }) =>
      pointer.replaceAll(/\/\d+(?=\/)/g, '/*'),
    ),
  );
  const dead = Object.keys(stageCitations[kind]).filter(
    (cited) => !known.some((one) => `${one}/`.startsWith(`/stages/*${cited}/`)),
  );
  expect(dead).toEqual([]);
});

it('a longer pointer counts before a shorter one, and an unknown field has none', () => {
  expect(citationAt(stageCitations.sft, '/optimizer/weight_decay')).toBe('Nemotron-Cascade, Table 14');
  expect(citationAt(stageCitations.sft, '/optimizer/eps')).toBe('our choice');
  expect(citationAt(stageCitations.mixed, '/domains/1/weight')).toMatch(/alike/);
  expect(citationAt(stageCitations.sft, '/temperature')).toBeUndefined();
});

it('a preset is the source of what it gives and nobody posted, wherever its stage was posted', () => {
  const spec = {
    type: 'cascade',
    preset: 'nemotron-cascade-8b',
    model: { ...model, thinking_control: 'flags' },
    stages: [
      { name: 'code', data: 'programs' },
      { name: 'math', data: 'sums', lr: 1 },
    ],
  };
  const { omitted: _, ...expanded } = filledSpec(jobSpec.parse(spec));
  const sources = new Map(defaultsOf(spec, expanded).map(({ pointer, source }) => [pointer, source]));
  expect(sources.get('/stages/0/phases/2/temperature')).toBe(
    'nemotron-cascade-8b: Nemotron-Cascade, Table 17',
  );
  expect(sources.get('/stages/1/lr')).toBe('nemotron-cascade-8b: Nemotron-Cascade, Table 19');
  expect(sources.get('/stages/0/kl')).toMatch(/^Nemotron-Cascade, Eq/);
  expect(sources.has('/stages/0/lr')).toBe(false);
  expect(sources.has('/stages/0/data')).toBe(false);
});
