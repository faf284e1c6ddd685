// Gates that distil: the repair stage in the expanded spec, its references and defaults at their places, and what is refused.
import { describe, expect, it, test } from 'vitest';
import { defaultsOf } from '../../../api/contract/default-sources.ts';
import { dataReferences, filledSpec, graderReferences } from '../../../api/contract/expand.ts';
import { issuesOf } from '../../../api/contract/issues.ts';
import { lengthsOf } from '../../../api/contract/memory/lengths.ts';
import { jobSpec } from '../../../api/contract/spec.ts';
import { teacherReferences } from '../../../api/contract/teachers.ts';

const exact = { type: 'exact' };
const math = { kind: 'math', data: 'sums', steps: 1, mode: 'thinking' };
const suites = ['math', 'science'].map((domain) => ({ name: domain, data: 'tasks', grader: exact }));
const rewarding = { objective: { type: 'policy_gradient', reward_weight: 1 } };
const cascade = (stages: readonly object[], changes: object = {}) => ({
  type: 'cascade',
  model: { init: { from: 'hf', uri: '/models/a' } },
  stages,
  evaluate: { suites },
  ...changes,
});
const gate = (after: string, changes: object = {}) => ({
  after,
  require: { metric: 'math.non_thinking.avg@1', drop_at_most: 0.1 },
  otherwise: 'distill',
  ...changes,
});

const parsed = (posted: unknown) => jobSpec.parse(posted);
const faultsOf = (posted: unknown): string[] => {
  const { error } = jobSpec.safeParse(posted);
  return error === undefined ? [] : issuesOf(error).map(({ pointer, message }) => `${pointer}: ${message}`);
};

describe('a gate that distils', () => {
  const sft = { kind: 'sft', data: 'rows' };
  const stages = [sft, math, { ...math, name: 'late', domain: 'math' }];

  it('has its repair stage behind the stage that it looks at, and no copy of it in itself', () => {
    const spec = filledSpec(
      parsed(cascade(stages, { gates: [gate('math', { repair: { steps: 7, rollouts: 2 } })] })),
    );
    expect(spec.stages.map((stage) => [stage.name, stage.kind])).toEqual([
      ['sft', 'sft'],
      ['math', 'math'],
      ['repair-math', 'distill'],
      ['late', 'math'],
    ]);
    expect(spec.stages[2]).toMatchObject({
      repairs: 'math',
      steps: 7,
      rollouts: 2,
      domains: [{ domain: 'math', data: 'sums', mode: 'thinking' }],
    });
    expect(spec.gates[0]).not.toHaveProperty('repair');
    expect(spec.gates[0]).toMatchObject({ after: 'math', otherwise: 'distill' });
  });

  it('needs not say how', () => {
    const posted = cascade(stages, { gates: [gate('math')] });
    expect(filledSpec(parsed(posted)).stages[2]).toMatchObject({ name: 'repair-math', steps: 20, lr: 2e-6 });
    expect(lengthsOf(parsed(posted)).limits.map(({ pointer }) => pointer)).toContain(
      '/gates/0/repair/max_response',
    );
  });

  it('shares its repair with the other gates after the same stage', () => {
    const repair = { name: 'mend', steps: 3 };
    const gates = [gate('math'), gate('math', { repair }), gate('math', { otherwise: 'fail' })];
    const { stages: filled } = filledSpec(parsed(cascade(stages, { gates })));
    expect(filled.map(({ name }) => name)).toEqual(['sft', 'math', 'mend', 'late']);
    expect(
      faultsOf(cascade(stages, { gates: [gate('math', { repair }), gate('math', { repair })] })),
    ).toEqual([
      expect.stringMatching(/^\/gates\/1\/repair: gates after math share one repair, which gate 0/),
    ]);
  });

  it('has its datasets, graders, teachers and defaults at their places', () => {
    const repair = {
      domains: [{ domain: 'science', data: 'choices', grader: exact, teacher: { uri: '/models/b' } }],
      ...rewarding,
    };
    const posted = cascade(stages, { gates: [gate('late'), gate('math', { repair })] });
    const spec = parsed(posted);
    const at = '/gates/1/repair/domains/0';
    expect(dataReferences(spec)).toContainEqual({
      pointer: `${at}/data`,
      data: 'choices',
      kinds: ['math'],
      grader: exact,
    });
    expect(graderReferences(spec)).toContainEqual({ pointer: `${at}/grader`, grader: exact });
    expect(teacherReferences(spec).map(({ pointer }) => pointer)).toEqual([`${at}/teacher`]);
    const { omitted: _, ...expanded } = filledSpec(spec);
    const sources = new Map(defaultsOf(posted, expanded).map(({ pointer, source }) => [pointer, source]));
    expect(sources.get('/stages/2/steps')).toMatch(/^our choice, of a repair/);
    expect(sources.get('/stages/2/name')).toMatch(/of a repair, the stage that it repairs/);
    expect(sources.get('/stages/2/lr')).toBe('Nemotron-Cascade 2, section 4.4');
    for (const posted of [
      'kind',
      'repairs',
      'domains/0/data',
      'domains/0/grader/type',
      'objective/reward_weight',
    ])
      expect([posted, sources.has(`/stages/2/${posted}`)]).toEqual([posted, false]);
    // Stages behind it are those that were posted, too.
    expect(sources.has('/stages/3/data')).toBe(false);
    expect(sources.has('/stages/1/mode')).toBe(false);
    expect(sources.get('/stages/4/domains/0/data')).toBe('the stages before it');
  });

  test.each<[string, object[], RegExp]>([
    [
      'the name of another stage',
      [gate('math', { repair: { name: 'late' } })],
      /^\/gates\/0\/repair\/name: a stage has the name late already/,
    ],
    [
      'the name of another repair',
      [gate('math', { repair: { name: 'mend' } }), gate('late', { repair: { name: 'mend' } })],
      /^\/gates\/1\/repair\/name: a stage has the name mend already/,
    ],
    [
      'a teacher that is a repair, which may not run',
      [
        gate('math'),
        gate('late', { repair: { domains: [{ domain: 'math', teacher: 'stage:repair-math' }] } }),
      ],
      /^\/gates\/1\/repair\/domains\/0\/teacher: no stage that runs before this one is named repair-math/,
    ],
    [
      'a teacher that comes later',
      [gate('math', { repair: { domains: [{ domain: 'math', teacher: 'stage:late' }] } })],
      /^\/gates\/0\/repair\/domains\/0\/teacher: /,
    ],
    [
      'a repair of a stage that trains nothing by rewards',
      [gate('sft')],
      /^\/gates\/0\/repair\/domains: no stage before/,
    ],
    [
      'a repair of a gate that pauses',
      [gate('math', { otherwise: 'pause', repair: {} })],
      /^\/gates\/0\/repair: goes with otherwise "distill"/,
    ],
    [
      'a mode that raw prompts ask for',
      [gate('math', { repair: { prompt_format: 'raw' } })],
      /^\/gates\/0\/repair\/prompt_format: /,
    ],
  ])('is refused with %s', (_, gates, fault) => {
    expect(faultsOf(cascade(stages, { gates }))).toContainEqual(expect.stringMatching(fault));
  });

  it('is refused where the name of its repair has no room', () => {
    const name = 'x'.repeat(60);
    const posted = cascade([{ ...math, name, domain: 'math' }], { gates: [gate(name)] });
    expect(faultsOf(posted)).toEqual([expect.stringMatching(/^\/gates\/0\/repair\/name: .*too long/)]);
    const named = gate(name, { repair: { name: 'mend' } });
    expect(faultsOf(cascade([{ ...math, name, domain: 'math' }], { gates: [named] }))).toEqual([]);
  });
});
