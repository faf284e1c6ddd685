// Where a model comes from: a folder here, or the store; what is neither is the spec's fault, by name.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Claim } from '../../api/contract/runner.ts';
import { planInputs } from '../../runner/supervisor/inputs.ts';
import { transferOutcome } from '../../runner/supervisor/transfer-outcome.ts';
import { tempDir } from '../support/temp-dir.ts';

const claimOf = (uri: string): Claim =>
  ({
    spec: { model: { init: { from: 'hf', uri } }, stages: [] },
    datasets: [],
    init: null,
    resume: null,
    reward_models: [],
    teachers: [],
  }) as unknown as Claim;

test.each([
  ['/models/a', '/models/a', 0],
  ['file:///models/a%20b', '/models/a b', 0],
  ['s3://bucket/a', '/scratch/init', 1],
])('%s lies at %s', (uri, init, transfers) => {
  const plan = planInputs(claimOf(uri), '/scratch', ['/models']);
  expect([plan.inputs.init, plan.transfers.length]).toEqual([init, transfers]);
});

test.each(['file://host/models/a', 'file:///a%2Fb', 'models/a', 'https://example.com/a'])(
  '%s is an invalid model, not a crash that is tried again',
  (uri) => {
    const outcome = (): unknown => {
      try {
        return planInputs(claimOf(uri), '/scratch', ['/models']);
      } catch (error) {
        return transferOutcome(error);
      }
    };
    expect(outcome()).toMatchObject({
      type: 'failed',
      reason: 'invalid_model',
      message: expect.stringContaining(uri) as unknown,
    });
  },
);

describe('a directory on this machine', () => {
  const plan = (uri: string, roots: readonly string[]) =>
    planInputs(claimOf(uri), '/scratch', roots).inputs.init;

  test('lies in or below a root', async () => {
    await using dir = await tempDir('roots');
    mkdirSync(join(dir.path, 'models/a'), { recursive: true });
    mkdirSync(join(dir.path, 'models-of-others'));
    const roots = [join(dir.path, 'models')];
    expect(plan(join(dir.path, 'models/a'), roots)).toBe(join(dir.path, 'models/a'));
    expect(plan(join(dir.path, 'models'), roots)).toBe(join(dir.path, 'models'));
    for (const outside of ['models-of-others', 'models/../models-of-others', '.'])
      expect(() => plan(`${dir.path}/${outside}`, roots)).toThrow(/MILLRACE_MODEL_ROOTS/);
  });

  test('may not be reached through a link that leaves the roots', async () => {
    await using dir = await tempDir('roots');
    for (const name of ['models', 'secret']) mkdirSync(join(dir.path, name));
    symlinkSync(join(dir.path, 'secret'), join(dir.path, 'models/link'));
    symlinkSync(join(dir.path, 'models'), join(dir.path, 'root'));
    expect(() => plan(join(dir.path, 'models/link'), [join(dir.path, 'models')])).toThrow(/may read models/);
    expect(plan(join(dir.path, 'models'), [join(dir.path, 'root')])).toBe(join(dir.path, 'models'));
  });

  test('is refused where no root is set', () => {
    expect(() => plan('/models/a', [])).toThrow(/none is set/);
    expect(plan('s3://bucket/a', [])).toBe('/scratch/init');
  });
});

test.each([
  ['full', undefined, ['fetch_checkpoint']],
  ['lora', '/models/a', ['fetch_checkpoint']],
] as const)('resuming, %s tuning: the base lies at %s', (method, init, transfers) => {
  const claim = {
    spec: { model: { init: { from: 'hf', uri: '/models/a' }, tuning: { method } }, stages: [] },
    datasets: [],
    init: null,
    resume: { id: 'ckpt' },
    reward_models: [],
    teachers: [],
  } as unknown as Claim;
  const plan = planInputs(claim, '/scratch', ['/models']);
  expect(plan.inputs).toMatchObject({ resume: '/scratch/resume' });
  expect(plan.inputs.init).toBe(init);
  expect(plan.transfers.map(({ kind }) => kind)).toEqual(transfers);
});

test('reward models come from the store, each to a folder of its own', () => {
  const models = [{ id: 'ckpt_a' }, { id: 'ckpt_b' }];
  const claim = { ...claimOf('/models/a'), reward_models: models } as unknown as Claim;
  const plan = planInputs(claim, '/scratch', ['/models']);
  expect(plan.inputs.rewardModels).toEqual({
    ckpt_a: '/scratch/reward-models/ckpt_a',
    ckpt_b: '/scratch/reward-models/ckpt_b',
  });
  expect(plan.transfers).toEqual(
    models.map((checkpoint) => ({
      ...{ kind: 'fetch_checkpoint', checkpoint, dir: `/scratch/reward-models/${checkpoint.id}` },
    })),
  );
});

describe('teachers from outside', () => {
  const id = 'ckpt_00000000000000000001';
  const whole = [
    { name: 'config.json' },
    { name: 'model.safetensors' },
    { name: 'trainer/moments.safetensors' },
  ];
  const taught = (
    teachers: readonly (readonly [domain: string, teacher: unknown])[],
    files: readonly { name: string }[] = whole,
  ) => {
    const domains = teachers.map(([domain, teacher]) => ({ domain, teacher }));
    const stages = [{ kind: 'distill', name: 'distill', domains }];
    const claim = { ...claimOf('/models/a'), teachers: [{ id, files }] };
    return { ...claim, spec: { ...claim.spec, stages } } as unknown as Claim;
  };
  const plan = (claim: Claim) => planInputs(claim, '/scratch', ['/models']);

  test('lie where they are mounted, or come from the store, the model of a checkpoint alone; those of own stages come later', () => {
    const claim = taught([
      ['math', id],
      ['code', { uri: '/models/b' }],
      ['chat', { uri: 's3://bucket/c' }],
      ['swe', 'best'],
      ['instruction', 'stage:sft'],
    ]);
    const { inputs, teacherTransfers } = plan(claim);
    expect(inputs.teachers).toEqual({
      [id]: '/scratch/teachers/0',
      '/models/b': '/models/b',
      's3://bucket/c': '/scratch/teachers/2',
    });
    const checkpoint = claim.teachers[0];
    expect(teacherTransfers).toEqual([
      {
        whose: 'teacher of stage distill, domain math',
        transfer: { kind: 'fetch_checkpoint', checkpoint, dir: '/scratch/teachers/0', part: 'model' },
      },
      {
        whose: 'teacher of stage distill, domain chat',
        transfer: { kind: 'fetch_model', uri: 's3://bucket/c', dir: '/scratch/teachers/2' },
      },
    ]);
    expect(plan(claimOf('/models/a')).inputs).not.toHaveProperty('teachers');
  });

  const gone = { ...taught([['math', id]]), teachers: [] };
  test.each([
    ['outside the roots', taught([['math', { uri: '/etc' }]]), /domain math: \/etc: .*MILLRACE_MODEL_ROOTS/],
    ['no more', gone, /domain math: ckpt_0+1: there is no such checkpoint any more/],
    [
      'adapters alone',
      taught([['math', id]], [{ name: 'adapter/adapter_model.safetensors' }]),
      /domain math: ckpt_0+1 holds adapters alone/,
    ],
  ])('one that there cannot be ends the attempt before anything is fetched: %s', (_, claim, message) => {
    const outcome = (): unknown => {
      try {
        return plan(claim);
      } catch (error) {
        return transferOutcome(error);
      }
    };
    expect(outcome()).toMatchObject({
      reason: 'invalid_model',
      message: expect.stringMatching(new RegExp(`^teacher of stage distill, ${message.source}`)) as unknown,
    });
  });
});
