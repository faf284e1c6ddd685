// Presets: what a posted spec with one becomes, whose word counts, and what is refused. The published numbers are compared with the
// tables in presets.test.ts.
import { describe, expect, it, test } from 'vitest';
import { defaultsOf } from '../../../../api/contract/default-sources.ts';
import { dataReferences, filledSpec } from '../../../../api/contract/expand.ts';
import { issuesOf } from '../../../../api/contract/issues.ts';
import { expandPreset } from '../../../../api/contract/presets/expand-preset.ts';
import { presets } from '../../../../api/contract/presets/presets.ts';
import { jobSpec } from '../../../../api/contract/spec.ts';
import { stepsOf } from '../../../../api/contract/stages/phase.ts';

const model = { init: { from: 'hf', uri: '/models/a' } };
const judge = { url: 'https://judge.example/v1', model: 'judge' };
const posted = (stages: unknown, changes: object = {}) => ({
  type: 'cascade',
  preset: 'nemotron-cascade-8b',
  model,
  stages,
  ...changes,
});

const expanded = (...given: Parameters<typeof posted>) => filledSpec(jobSpec.parse(posted(...given)));

function faultsOf(...given: Parameters<typeof posted>) {
  const { error } = jobSpec.safeParse(posted(...given));
  return error === undefined ? [] : issuesOf(error);
}

describe('a spec with a preset', () => {
  it('takes the values of the stages that it names, in the order of the preset', () => {
    const spec = jobSpec.parse(
      posted([
        { name: 'code', data: 'programs' },
        { name: 'math', data: 'sums' },
      ]),
    );
    const { stages, preset } = filledSpec(spec);
    expect(preset).toBe('nemotron-cascade-8b');
    expect(
      stages.map((stage) => [stage.kind, stage.name, stage.domain, 'data' in stage && stage.data]),
    ).toEqual([
      ['math', 'math', 'math', 'sums'],
      ['code', 'code', 'code', 'programs'],
    ]);
    expect(stages[0]).toMatchObject({
      mode: 'thinking',
      lr: 2e-6,
      grader: { type: 'math' },
      overlong: 'zero',
    });
    // Pointers stay those of what was posted.
    expect(dataReferences(spec).map(({ pointer, data }) => [pointer, data])).toEqual([
      ['/stages/1/data', 'sums'],
      ['/stages/0/data', 'programs'],
    ]);
  });

  it('lists what does not run, with the reason', () => {
    const { omitted } = expanded([{ name: 'math', data: 'sums' }]);
    expect(omitted?.map(({ name }) => name)).toEqual([
      'reward-model',
      'sft-1',
      'sft-2',
      'rlhf',
      'instruction-1',
      'instruction-2',
      'code',
      'swe-1',
      'swe-2',
    ]);
    expect(expanded([{ name: 'math', data: 'sums' }])).toMatchObject({
      omitted: expect.arrayContaining([{ name: 'sft-1', why: expect.stringContaining('not posted') }]),
    });
  });

  it('says what a stage lacks that only the poster can give', () => {
    const preset = 'nemotron-cascade-14b-thinking';
    const stage = { name: 'instruction-1', data: 'rows' };
    const names = (stages: object[]) => expanded(stages, { preset }).omitted!.map(({ name }) => name);
    expect(names([stage])).toContain('instruction-1/reward_model');
    const reward_model = 'ckpt_00000000000000000001';
    expect(names([{ ...stage, reward_model }])).not.toContain('instruction-1/reward_model');
  });

  test.each([
    ['a number', { lr: 1e-4 }, { lr: 1e-4, temperature: 1 }],
    ['steps in place of phases', { steps: 10 }, { steps: 10 }],
    ['an array whole', { phases: [{ steps: 3 }] }, { phases: [{ steps: 3 }] }],
    ['a field of an object', { optimizer: { eps: 1e-6 } }, { optimizer: { eps: 1e-6, beta2: 0.95 } }],
    [
      'an object’s field beside the preset’s',
      { filter: { readmit_hard: 0.5 } },
      { filter: { type: 'epoch', readmit_hard: 0.5, readmit_easy: 0.01 } },
    ],
    ['an object of another type whole', { filter: { type: 'off' } }, { filter: { type: 'off' } }],
    [
      'a field that the preset does not have',
      { length_control: 'group_relative' },
      { length_control: 'group_relative' },
    ],
    ['its kind, which is the preset’s', { kind: 'math' }, { kind: 'math' }],
  ])('posted wins: %s', (_, fields, wanted) => {
    const [stage] = expanded([{ name: 'math', data: 'sums', ...fields }]).stages;
    expect(stage).toMatchObject(wanted);
    expect('steps' in stage! && 'phases' in stage).toBe(false);
  });

  it('lets steps stand in place of epochs', () => {
    const [stage] = expanded([{ name: 'sft', data: 'rows', steps: 5 }], {
      preset: 'nemotron-cascade-2',
    }).stages;
    expect(stage).toMatchObject({ steps: 5, batch: 64, optimizer: { beta2: 0.98, weight_decay: 0.1 } });
    expect(stage).not.toHaveProperty('epochs');
  });

  it('orders gates by the preset', () => {
    const stages = [
      { name: 'code', data: 'programs' },
      { name: 'math', data: 'sums' },
    ];
    const evaluate = { suites: [{ name: 'a', data: 'sums', grader: { type: 'math' } }] };
    const gate = (after: string, since: string) => ({
      evaluate,
      gates: [{ after, require: { metric: 'a.non_thinking.avg@1', drop_at_most: 0.1, since } }],
    });
    expect(faultsOf(stages, gate('code', 'math'))).toEqual([]);
    expect(faultsOf(stages, gate('math', 'code')).map(({ pointer }) => pointer)).toEqual([
      '/gates/0/require/since',
    ]);
  });

  test.each<[string, unknown, object, string, RegExp]>([
    [
      'a preset that is none',
      [],
      { preset: 'nemotron' },
      '/preset',
      /nemotron-cascade-8b, nemotron-cascade-14b/,
    ],
    ['a preset that is no text', [], { preset: 7 }, '/preset', /no such preset/],
    ['a stage that it has not', [{ name: 'poetry', data: 'a' }], {}, '/stages/0/name', /sft-1, .*swe-2/],
    ['a stage without a name', [{ data: 'a' }], {}, '/stages/0/name', /must name a stage/],
    ['a name that every object has', [{ name: 'constructor', data: 'a' }], {}, '/stages/0/name', /must name/],
    ['another kind', [{ name: 'math', kind: 'code', data: 'a' }], {}, '/stages/0/kind', /is math in/],
    [
      'a stage twice',
      [
        { name: 'math', data: 'a' },
        { name: 'math', data: 'b' },
      ],
      {},
      '/stages',
      /unique/,
    ],
    ['no stage', [], {}, '/stages', /1/],
    ['no list of stages', { name: 'math' }, {}, '/stages', /array/],
    ['a stage that is none', ['math'], {}, '/stages/0', /object/],
    ['no data', [{ name: 'math' }], {}, '/stages/0/data', /must be given/],
    ['no grader for rlhf', [{ name: 'rlhf', data: 'a' }], {}, '/stages/0/grader', /must be given/],
    ['no judge for swe', [{ name: 'swe-1', data: 'a' }], {}, '/stages/0/grader/judge', /goes with/],
    ['a field that is none', [{ name: 'math', data: 'a', sed: 1 }], {}, '/stages/0/sed', /no such field/],
    [
      'a value that is none',
      [
        { name: 'code', data: 'a' },
        { name: 'math', data: 'a', lr: 'x' },
      ],
      {},
      '/stages/1/lr',
      /number/,
    ],
    [
      'domains of multi-domain',
      [{ name: 'multi-domain', data: 'a' }],
      { preset: 'nemotron-cascade-2' },
      '/stages/0/data',
      /no such field/,
    ],
  ])('refuses %s at its place', (_, stages, changes, pointer, message) => {
    const faults = faultsOf(stages, changes);
    expect(faults).toContainEqual({ pointer, message: expect.stringMatching(message) as string });
  });

  it('is one of a cascade only, and every fault of names is listed', () => {
    const spec = { type: 'sft', preset: 'nemotron-cascade-8b', model, stage: { kind: 'sft', data: 'a' } };
    expect(issuesOf(jobSpec.safeParse(spec).error!).map(({ pointer }) => pointer)).toEqual(['/preset']);
    expect(faultsOf([{ name: 'a' }, { name: 'math', data: 'b' }, {}]).map(({ pointer }) => pointer)).toEqual([
      '/stages/0/name',
      '/stages/2/name',
    ]);
  });

  it('pollutes nothing', () => {
    const stage: unknown = JSON.parse(
      '{"name":"math","data":"a","__proto__":{"lr":1},"optimizer":{"__proto__":{"x":1}}}',
    );
    expandPreset(posted([stage]));
    expect(({} as { lr?: number }).lr).toBeUndefined();
    expect(faultsOf([stage]).map(({ pointer }) => pointer)).not.toEqual([]);
  });
});

/** What phases need whole and a preset may leave to the kind. */
const defaults = { max_response: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0, overlong: 'keep' };

test.each(Object.entries(presets))('%s as a whole is a spec', (preset, { stages }) => {
  const extra: Readonly<Record<string, object>> = {
    rlhf: { grader: { type: 'preference', model: 'ckpt_00000000000000000001' } },
    swe: { grader: { judge } },
    multi_domain: {
      domains: [
        { domain: 'science', data: 'a', grader: { type: 'exact' } },
        { domain: 'structure', data: 'b', grader: { type: 'exact' } },
      ],
    },
    distill: {
      domains: [
        { domain: 'math', data: 'sums' },
        { domain: 'science', teacher: 'stage:multi-domain' },
      ],
    },
  };
  const all = stages.map(({ name, values }) => ({
    name,
    ...(['multi_domain', 'distill'].includes(values.kind) ? {} : { data: 'rows' }),
    ...extra[values.kind],
  }));
  const spec = expanded(all.toReversed(), { preset });
  expect(spec.stages.map(({ name }) => name)).toEqual(stages.map(({ name }) => name));
  // What the preset says is what is executed.
  for (const [index, { values }] of stages.entries()) expect(spec.stages[index]).toMatchObject(values);
});

describe('the distillation of nemotron-cascade-2', () => {
  const preset = 'nemotron-cascade-2';
  const science = { domain: 'science', data: 'b', grader: { type: 'exact' } };
  const structure = { ...science, domain: 'structure' };
  const stages = [
    { name: 'sft', data: 'rows' },
    { name: 'instruction', data: 'constraints' },
    { name: 'multi-domain', domains: [science, structure] },
    { name: 'rlhf', data: 'talks', grader: { type: 'preference', model: 'ckpt_00000000000000000001' } },
  ];
  const chat = { domain: 'chat', data: 'talks', teacher: { from_job: 'job_00000000000000000001' } };
  const evaluate = {
    suites: ['instruction', 'science', 'structure', 'math'].map((name) => ({
      name,
      data: 'rows',
      grader: { type: 'exact' },
    })),
  };
  const distilled = (domains: object[] | undefined, others: object[] = stages) =>
    expanded([{ name: 'distill', ...(domains && { domains }) }, ...others], { preset, evaluate });
  const omittedIn = ({ omitted }: ReturnType<typeof distilled>) =>
    omitted!.map(({ name }) => name).filter((name) => name.startsWith('distill'));

  it('stands between multi-domain and rlhf, with the best of each domain where nobody names a teacher', () => {
    const spec = distilled(undefined);
    expect(spec.stages.map(({ name }) => name)).toEqual([
      'sft',
      'instruction',
      'multi-domain',
      'distill',
      'rlhf',
    ]);
    expect(spec.stages[3]).toMatchObject({
      lr: 3e-6,
      steps: 52,
      prompts_per_step: 128,
      rollouts: 4,
      warmup_steps: 30,
      max_response: 98_304,
      objective: { type: 'policy_gradient', ratio: { lowest: 0.5, highest: 2, outside: 'drop' } },
      domains: ['instruction', 'science', 'structure'].map((domain) => ({ domain, teacher: 'best' })),
    });
    expect(omittedIn(spec)).toEqual(['distill/math', 'distill/chat']);
  });

  it('has the end of sft as the teacher of math, and what was posted for chat', () => {
    const domains = [{ domain: 'math', data: 'sums' }, chat, { domain: 'science', weight: 2 }];
    const spec = distilled(domains);
    expect(spec.stages[3]).toMatchObject({
      domains: [{ teacher: 'stage:sft' }, { teacher: { take: 'best' } }, { data: 'b', teacher: 'best' }],
    });
    expect(omittedIn(spec)).toEqual([]);
    const { omitted: _, ...rest } = spec;
    const given = posted([{ name: 'distill', domains }, ...stages], { preset, evaluate });
    const sources = new Map(defaultsOf(given, rest).map(({ pointer, source }) => [pointer, source]));
    expect(sources.get('/stages/3/domains/0/teacher')).toMatch(/^nemotron-cascade-2: .*section 4\.4/);
    expect(sources.get('/stages/3/domains/2/teacher')).toMatch(/^Nemotron-Cascade 2, section 4\.4/);
  });

  it('names no stage that is not posted: what is lost then is listed, unless the poster names a teacher', () => {
    const begun = stages.slice(1);
    const spec = distilled([{ domain: 'math', data: 'sums' }], begun);
    expect(spec.stages[2]).toMatchObject({ domains: [{ domain: 'math', teacher: 'best' }] });
    expect(omittedIn(spec)).toEqual(['distill/math', 'distill/chat']);
    const named = { domain: 'math', data: 'sums', teacher: 'ckpt_00000000000000000002' };
    expect(omittedIn(distilled([named], begun))).toEqual(['distill/chat']);
    expect(omittedIn(expanded(begun, { preset, evaluate }))).toEqual(['distill']);
  });
});

test.each([
  // Sums of the tables: arXiv 2512.13607, Tables 15-17, 19 and 20; of the 14B model Figure 1 says 2,232, its tables 2,224.
  ['nemotron-cascade-8b', 800 + 2300 + 800 + 500 + 90 + 60],
  ['nemotron-cascade-14b-thinking', 900 + 920 + 220 + 64 + 120],
  // arXiv 2603.19220, Tables 8-10, sections 4.3 and 4.8, and the appendix for the steps of distillation.
  ['nemotron-cascade-2', 180 + 70 + 52 + 25 + 22 + 50],
] as const)('%s takes the steps of its paper', (preset, steps) => {
  const reinforced = presets[preset].stages.filter(({ values }) => values.kind !== 'sft');
  const counted = reinforced.map(({ values }) =>
    stepsOf({ ...defaults, ...values } as unknown as Parameters<typeof stepsOf>[0]),
  );
  expect(counted.reduce((total, one) => total + one, 0)).toBe(steps);
});
