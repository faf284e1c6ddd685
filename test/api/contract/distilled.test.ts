// Specs with stages that distil: what they take from the stages before them, what is refused and where, repairs of gates, and what the
// expanded spec makes of it.
import { describe, expect, it, test } from 'vitest';
import {
  dataReferences,
  datasetsOf,
  expandSpec,
  filledSpec,
  graderReferences,
  gradersOf,
  teachersOf,
} from '../../../api/contract/expand.ts';
import { issuesOf } from '../../../api/contract/issues.ts';
import { lengthsOf, stepTokens } from '../../../api/contract/memory/lengths.ts';
import { jobSpec } from '../../../api/contract/spec.ts';
import { teacherKey, teacherReferences } from '../../../api/contract/teachers.ts';

const model = { init: { from: 'hf', uri: '/models/a' } };
const outside = `ckpt_${'1'.repeat(20)}`;
const job = `job_${'2'.repeat(20)}`;
const exact = { type: 'exact' };
const math = { kind: 'math', data: 'sums', steps: 1, mode: 'thinking' };
const several = {
  kind: 'multi_domain',
  steps: 1,
  domains: [
    { domain: 'math', data: 'proofs', grader: { type: 'math' }, mode: 'half_half' },
    { domain: 'science', data: 'choices', grader: exact },
  ],
};
const suites = ['math', 'science'].map((domain) => ({ name: domain, data: 'tasks', grader: exact }));
const distill = { kind: 'distill', steps: 2 };
const cascade = (stages: readonly object[], changes: object = {}) => ({
  type: 'cascade',
  model,
  stages,
  evaluate: { suites },
  ...changes,
});
const parsed = (posted: unknown) => jobSpec.parse(posted);
const faultsOf = (posted: unknown): string[] => {
  const { error } = jobSpec.safeParse(posted);
  return error === undefined ? [] : issuesOf(error).map(({ pointer, message }) => `${pointer}: ${message}`);
};
const stageAt = (posted: unknown, index: number) => filledSpec(parsed(posted)).stages[index]!;

describe('a stage that distils takes of the stages before it', () => {
  it('every domain that they train, each from the last that trains it, with the best as its teacher', () => {
    const stage = stageAt(cascade([math, { ...math, name: 'more', data: 'more' }, several, distill]), 3);
    expect(stage).toMatchObject({
      name: 'distill',
      domains: [
        { domain: 'math', data: 'proofs', mode: 'half_half', teacher: 'best', weight: 1 },
        { domain: 'science', data: 'choices', teacher: 'best' },
      ],
    });
    expect(stage).not.toHaveProperty('repairs');
  });

  it('what a posted domain does not say itself, and a grader only where rewards count', () => {
    const domains = [{ domain: 'math', data: 'other', weight: 3 }];
    const [given] = (stageAt(cascade([math, { ...distill, domains }]), 1) as { domains: object[] }).domains;
    expect(given).toEqual({ domain: 'math', data: 'other', weight: 3, teacher: 'best', mode: 'thinking' });
    const objective = { type: 'policy_gradient', reward_weight: 0.5 };
    const rewarded = cascade([math, { ...distill, domains, objective }]);
    expect(stageAt(rewarded, 1)).toMatchObject({ domains: [{ data: 'other', grader: { type: 'math' } }] });
    expect(stageAt(cascade([math, { ...distill, domains, objective: { type: 'divergence' } }]), 1)).toEqual(
      expect.objectContaining({ objective: { type: 'divergence', beta: 1 } }),
    );
  });

  it('nothing of stages that come after it, nor of SFT', () => {
    expect(faultsOf(cascade([{ kind: 'sft', data: 'rows' }, distill, math]))).toEqual([
      expect.stringMatching(/^\/stages\/1\/domains: no stage before this one trains a domain/),
    ]);
  });
});

const taught = (domain: object, stage: object = {}) =>
  cascade([math, { ...distill, domains: [{ domain: 'math', ...domain }], ...stage }]);
const rewarding = { objective: { type: 'policy_gradient', reward_weight: 1 } };

test.each<[string, unknown, RegExp]>([
  [
    'a domain without data',
    taught({ domain: 'science', teacher: outside }),
    /^\/stages\/1\/domains\/0\/data: no stage before this one trains the domain science/,
  ],
  [
    'a teacher that is a stage to come',
    cascade([
      math,
      { ...distill, domains: [{ domain: 'math', teacher: 'stage:late' }] },
      { ...math, name: 'late' },
    ]),
    /^\/stages\/1\/domains\/0\/teacher: no stage that runs before this one is named late: math; the model before the first stage/,
  ],
  [
    'a teacher that is no stage',
    taught({ teacher: 'stage:none' }),
    /^\/stages\/1\/domains\/0\/teacher: .* named none/,
  ],
  ['a teacher in capitals', taught({ teacher: 'BEST' }), /^\/stages\/1\/domains\/0\/teacher: /],
  [
    'best without a suite of its domain',
    cascade([math, distill], { evaluate: { suites: [{ ...suites[1] }] } }),
    /^\/stages\/1\/domains: math: best is chosen by the suites of the domain.*there is science.* stage:NAME/,
  ],
  [
    'a reward without a grader',
    taught({ domain: 'science', data: 'x', teacher: outside }, rewarding),
    /^\/stages\/1\/domains\/0\/grader: reward_weight needs a grader/,
  ],
  [
    'a reward of single rollouts',
    taught({}, { ...rewarding, rollouts: 1 }),
    /^\/stages\/1\/rollouts: must be at least 2/,
  ],
  [
    'a grader that nothing asks',
    taught({ grader: exact }),
    /^\/stages\/1\/domains\/0\/grader: goes with an objective policy_gradient/,
  ],
  [
    'a grader beside a divergence',
    taught({ grader: exact }, { objective: { type: 'divergence' } }),
    /^\/stages\/1\/domains\/0\/grader: /,
  ],
  [
    'halves of an odd batch',
    taught({ mode: 'half_half' }, { prompts_per_step: 3 }),
    /^\/stages\/1\/prompts_per_step: must be even/,
  ],
  [
    'halves of an odd batch, as the stage before has them',
    cascade([several, { ...distill, prompts_per_step: 3 }]),
    /^\/stages\/1\/prompts_per_step: must be even: the mode of math is half_half/,
  ],
  [
    'raw prompts of a domain that is trained in a mode',
    taught({}, { prompt_format: 'raw' }),
    /^\/stages\/1\/prompt_format: raw prompts ask for no mode, and math asks for thinking/,
  ],
  [
    'a mode that the model has not',
    { ...taught({ mode: 'thinking' }), model: { ...model, thinking_control: 'none' } },
    /^\/stages\/1\/domains\/0\/mode: /,
  ],
  [
    'a domain twice',
    cascade([math, { ...distill, domains: [{ domain: 'math' }, { domain: 'math' }] }]),
    /^\/stages\/1\/domains: a domain stands twice/,
  ],
  [
    'best in a job that only distils',
    { type: 'distill', model, stage: { ...distill, domains: [{ domain: 'math', data: 'x' }] } },
    /^\/stage\/domains\/0\/teacher: there is no stage before this one for "best".* from_job/,
  ],
  [
    'no domain in a job that only distils',
    { type: 'distill', model, stage: distill },
    /^\/stage\/domains: no stage before this one/,
  ],
])('refuses %s', (_, posted, fault) => {
  expect(faultsOf(posted)).toContainEqual(expect.stringMatching(fault));
});

describe('a job that only distils', () => {
  const teacher = { from_job: job };
  const domains = [
    { domain: 'math', data: 'sums', teacher },
    { domain: 'science', data: 'choices', teacher: { uri: '/models/b' } },
    { domain: 'chat', data: 'talks', teacher: { from_job: job, take: 'stage:rlhf' } },
    { domain: 'code', data: 'programs', teacher: outside },
  ];
  const posted = { type: 'distill', model, stage: { ...distill, domains, max_response: 100 } };

  it('names its teachers, each at its place', () => {
    expect(
      teacherReferences(parsed(posted)).map((one) => [one.pointer, teacherKey(one.teacher, one.domain)]),
    ).toEqual([
      ['/stage/domains/0/teacher', `best of ${job}, math`],
      ['/stage/domains/1/teacher', '/models/b'],
      ['/stage/domains/2/teacher', `stage:rlhf of ${job}`],
      ['/stage/domains/3/teacher', outside],
    ]);
    expect(dataReferences(parsed(posted)).map(({ pointer, kinds }) => [pointer, kinds.length])).toEqual(
      [0, 1, 2, 3].map((index) => [`/stage/domains/${index}/data`, 5]),
    );
  });

  it('is expanded with what those of other jobs are', () => {
    const ids = ['sums', 'choices', 'talks', 'programs'].map(
      (name, at) => [name, `ds_${String(at).repeat(20)}`] as const,
    );
    const other = `ckpt_${'3'.repeat(20)}`;
    const asked: unknown[] = [];
    const expanded = expandSpec(parsed(posted), new Map(ids), (given, domain) => {
      asked.push([given, domain]);
      return typeof given === 'object' && 'from_job' in given ? other : given;
    });
    expect(asked[0]).toEqual([{ from_job: job, take: 'best' }, 'math']);
    expect(expanded).toMatchObject({
      type: 'distill',
      gates: [],
      stages: [{ name: 'distill', domain: 'distill' }],
    });
    expect(teachersOf(expanded)).toEqual({ checkpoints: [other, outside], uris: ['/models/b'] });
    expect(datasetsOf(expanded)).toEqual(ids.map(([, id]) => id));
    expect(gradersOf(expanded)).toEqual([]);
    expect(() => expandSpec(parsed(posted), new Map(ids))).toThrow();
  });

  it('samples and trains up to its longest answer', () => {
    expect(lengthsOf(parsed(posted)).limits).toEqual([
      { pointer: '/stage/max_response', tokens: 101, trained: true, sampled: true },
    ]);
    expect(stepTokens(parsed(posted))).toMatchObject([{ stage: 'distill', sequences: 512, tokens: 51_200 }]);
  });
});

describe('rows of a domain', () => {
  const kindsOf = (posted: unknown) =>
    dataReferences(parsed(posted)).map(({ pointer, data, kinds, grader }) => [
      pointer,
      data,
      kinds[0],
      grader?.type,
    ]);

  it('must fit the grader that it takes from the stage before', () => {
    expect(kindsOf(taught({ data: 'other' }, rewarding))).toContainEqual([
      '/stages/1/domains/0/data',
      'other',
      'math',
      'math',
    ]);
    expect(dataReferences(parsed(taught({ data: 'other' }, rewarding)))[1]?.kinds).toEqual(['math']);
    expect(dataReferences(parsed(taught({ data: 'other' })))[1]?.kinds).toContain('preference');
  });

  it('that it takes from the stage before must fit the grader that it has of its own', () => {
    const code = { type: 'code', language: 'python' };
    const posted = taught({ grader: code }, rewarding);
    expect(kindsOf(posted)).toContainEqual(['/stages/1/domains/0/data', 'sums', 'code', 'code']);
    expect(graderReferences(parsed(posted)).map(({ pointer }) => pointer)).toContain(
      '/stages/1/domains/0/grader',
    );
  });

  it('and its grader, taken as they are, are looked at where they stand', () => {
    const posted = cascade([math, { ...distill, ...rewarding }]);
    expect(kindsOf(posted).map(([pointer]) => pointer)).not.toContain('/stages/1/domains/0/data');
    const grader = filledSpec(parsed(posted)).stages[1];
    expect(grader).toMatchObject({ domains: [{ grader: { type: 'math' } }] });
  });
});
