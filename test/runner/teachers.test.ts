// Directories as teachers of a policy: which fit, what is said of those that do not, before a weight is read; and how a trainer process
// comes by the ends of its job's own stages.
import { existsSync, mkdirSync } from 'node:fs';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExpandedSpec, ExpandedStage } from '../../api/contract/expand.ts';
import { Paused } from '../../runner/cascade/point.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import type { FromTrainer } from '../../runner/ipc.ts';
import { besidePolicy } from '../../runner/trainer/beside-policy.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';
import { ProcessTeachers } from '../../runner/trainer/process-teachers.ts';
import type { OpenTeachers } from '../../runner/trainer/process-teachers.ts';
import { checkTeacher, openTeacher } from '../../runner/trainer/teacher-model.ts';
import type { Student } from '../../runner/trainer/teacher-model.ts';
import { leakCheckedRuntime } from '../engine/learner/support.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { writeTinyRewardModel } from '../support/tiny-reward-model.ts';

const runtime = leakCheckedRuntime();
const machine = { provider: 'cpu', memoryBytes: 8e9 } as const;

let dir: TempDir;
let student: Student;
let parameters: number;

const at = (name: string): string => join(dir.path, name);

beforeAll(async () => {
  dir = await tempDir('teachers');
  await writeTinyDirectory(at('student'));
  student = await readModel(at('student'));
  parameters = parameterLayout(student.config).parameterCount;
});
afterAll(() => dir.remove());

const domain = (name: string, teacher: unknown) => ({ domain: name, teacher });
const distill = (domains: readonly object[], changes: object = {}): ExpandedStage =>
  ({ kind: 'distill', name: 'distill', max_response: 32, domains, ...changes }) as unknown as ExpandedStage;
const stages = (...given: ExpandedStage[]): Pick<ExpandedSpec, 'stages'> => ({ stages: given });

/** Changes one JSON file of a fresh model directory. */
async function changed(
  name: string,
  file: string,
  change: (json: Record<string, unknown>) => unknown,
): Promise<string> {
  await writeTinyDirectory(at(name), { seed: 2 });
  const json = JSON.parse(await readFile(join(at(name), file), 'utf8')) as Record<string, unknown>;
  await writeFile(join(at(name), file), JSON.stringify(change(json), null, 1));
  return at(name);
}

describe('a teacher', () => {
  it('has the tokenizer and the vocabulary of the student, whatever the order and the weights in its files', async () => {
    const reordered = await changed('reordered', 'tokenizer.json', (json) =>
      Object.fromEntries(Object.entries(json).reverse()),
    );
    expect(await checkTeacher(student, reordered)).toEqual(student.config);
    const teacher = await openTeacher(runtime, student, reordered, {});
    await rm(reordered, { recursive: true });
    const sequence = {
      tokens_T: Int32Array.from([4, 5, 6, 7]),
      weights_T: new Float32Array(4),
      scoredFrom: 1,
    };
    const scores = await teacher.score([sequence], { temperature: 1 });
    teacher[Symbol.dispose]();
    expect([...scores.logProbs[0]!].map((logProb) => logProb < 0)).toEqual([false, true, true, true]);
  });

  it.each([
    ['missing', () => Promise.resolve(at('nowhere')), /nowhere\/config\.json: there is no such file/],
    [
      'without weights',
      async () => {
        await writeTinyDirectory(at('bare'));
        await rm(join(at('bare'), 'model.safetensors'));
        return at('bare');
      },
      /bare: holds neither model\.safetensors nor/,
    ],
    [
      'cut short',
      async () => {
        await writeTinyDirectory(at('short'));
        await truncate(join(at('short'), 'model.safetensors'), 5_000);
        return at('short');
      },
      /short\/model\.safetensors: /,
    ],
    [
      'of another shape than its configuration says',
      () => changed('shape', 'config.json', (json) => ({ ...json, intermediate_size: 96 })),
      /shape: tensor "model\.layers\.0\.mlp\.\w+\.weight" has shape/,
    ],
    [
      'with more words than the student',
      () => changed('words', 'config.json', (json) => ({ ...json, vocab_size: 99 })),
      /words: the model has 99 words, the one in training \d+/,
    ],
    [
      'with another vocabulary',
      () =>
        changed('other', 'tokenizer.json', (json) =>
          JSON.parse(JSON.stringify(json).replace('"7":', '"x":')),
        ),
      /other: its vocabulary is another/,
    ],
    [
      'with too few positions for the answers',
      async () => {
        await writeTinyDirectory(at('few'), { positions: 16 });
        return at('few');
      },
      /the model has 16 positions, and is to score answers of up to 32 tokens/,
    ],
    [
      'with a scalar head',
      async () => {
        await writeTinyRewardModel(at('scalar'));
        return at('scalar');
      },
      /scalar: the model has a scalar head/,
    ],
  ])(
    '%s is refused before the first step, as invalid model, by stage and domain',
    async (_, make, message) => {
      const directory = await make();
      const spec = stages(distill([domain('math', { uri: directory })]));
      const refused = besidePolicy(spec, student, undefined, machine, { [directory]: directory });
      expect(failedOutcome(await refused.catch((error: unknown) => error))).toMatchObject({
        reason: 'invalid_model',
        message: expect.stringMatching(
          new RegExp(`^teacher ${directory} of stage distill, domain math: .*${message.source}`),
        ) as unknown,
      });
    },
  );
});

describe('the memory beside a policy', () => {
  const beside = (spec: Pick<ExpandedSpec, 'stages'>, memoryBytes = 8e9, teachers = {}) =>
    besidePolicy(spec, student, undefined, { ...machine, memoryBytes }, teachers);
  const math = (kl: number): ExpandedStage =>
    ({ kind: 'math', name: 'math', kl }) as unknown as ExpandedStage;

  it('is the reference of a KL penalty, or as many teachers as a stage has, whichever is more', async () => {
    expect(await beside(stages(math(0)))).toMatchObject({ frozenParameters: 0, atOnce: undefined });
    expect(await beside(stages(math(0.1)))).toMatchObject({
      frozenParameters: parameters,
      atOnce: undefined,
    });
    const three = distill([
      domain('a', 'best'),
      domain('b', 'best'),
      domain('c', 'stage:math'),
      domain('d', 'stage:math'),
    ]);
    expect(await beside(stages(math(0.1), three))).toMatchObject({
      frozenParameters: 3 * parameters,
      atOnce: 3,
    });
  });

  it('is of a stage that may be left out, too, and does not depend on where an attempt begins', async () => {
    const repair = distill([domain('a', 'best'), domain('b', 'best')], { repairs: 'math' });
    expect(await beside(stages(math(0), repair))).toMatchObject({
      frozenParameters: 2 * parameters,
      atOnce: 2,
    });
  });

  it('holds one teacher at a time where two do not fit', async () => {
    const two = stages(distill([domain('a', 'best'), domain('b', 'best')]));
    // Weights, gradients, moments; half of what is left holds one teacher and a half.
    const memory = (16 + 2 * 1.5 * 4) * parameters;
    expect(await beside(two, memory)).toMatchObject({ frozenParameters: parameters, atOnce: 1 });
  });

  it('counts a larger teacher as large as it is', async () => {
    const larger = at('larger');
    await writeTinyDirectory(larger, { config: { num_hidden_layers: 4 } });
    const parametersOfIt = parameterLayout((await readModel(larger)).config).parameterCount;
    const two = stages(distill([domain('a', { uri: larger }), domain('b', 'best')]));
    expect(await beside(two, 8e9, { [larger]: larger })).toEqual({
      frozenParameters: 2 * parametersOfIt,
      atOnce: 2,
      positions: new Map([[larger, student.config.maxPositions]]),
    });
  });
});

describe('ends of own stages', () => {
  const spec = stages(
    { kind: 'sft', name: 'sft' } as unknown as ExpandedStage,
    distill([domain('a', 'best'), domain('b', 'best')]),
  );

  /** A supervisor that brings what `ends` has. */
  function teachersOf(
    ends: Readonly<Record<number, string>>,
    atOnce = 2,
    pauseAsked = () => false,
    read: OpenTeachers['open'] = (directory) => openTeacher(runtime, student, directory, {}),
  ) {
    const said: FromTrainer[] = [];
    const opened: string[] = [];
    const open: OpenTeachers['open'] = async (directory) => {
      opened.push(directory);
      return await read(directory);
    };
    const send = (message: FromTrainer): void => {
      said.push(message);
      if (message.type !== 'fetch_stage_end') return;
      const { stageIndex } = message;
      if (ends[stageIndex] === 'never') return;
      mkdirSync(message.dir, { recursive: true });
      void (async () => {
        if (ends[stageIndex] === undefined)
          return teachers.answer({ type: 'stage_end_missing', stageIndex, message: 'none is committed' });
        await writeTinyDirectory(message.dir, { seed: 3 });
        teachers.answer({ type: 'stage_end', stageIndex, dir: message.dir });
      })();
    };
    let settled = 0;
    const teachers: ProcessTeachers = new ProcessTeachers({
      ...{
        spec,
        outside: {},
        scratch: dir.path,
        parent: { send, pauseAsked },
        atOnce,
        open,
        positions: new Map(),
      },
      settled: () => Promise.resolve(void (settled += 1)),
    });
    const asked = () =>
      said.flatMap((message) => (message.type === 'fetch_stage_end' ? [message.stageIndex] : []));
    return { teachers, asked, opened, settled: () => settled };
  }
  const folder = (index: number): string => join(dir.path, 'teachers', String(index));

  it('are fetched once no snapshot is pending, and leave scratch once they are in memory', async () => {
    const { teachers, asked, settled } = teachersOf({ 0: 'there' });
    (await teachers.open('stage:sft'))[Symbol.dispose]();
    expect([asked(), settled(), existsSync(folder(0))]).toEqual([[0], 1, false]);
  });

  it('stay until the stage is over where teachers take turns', async () => {
    const { teachers, asked } = teachersOf({ 0: 'there' }, 1);
    for (let turn = 0; turn < 3; turn += 1) (await teachers.open('stage:sft'))[Symbol.dispose]();
    expect([asked(), existsSync(folder(0))]).toEqual([[0], true]);
    await teachers.stageOver();
    expect(existsSync(folder(0))).toBe(false);
  });

  it.each([
    ['stage:sft', /^teacher stage:sft: none is committed$/],
    ['stage:nowhere', /no stage of this name/],
    ['ckpt_1', /^teacher ckpt_1 .*started without it/],
  ])('%s, where there is none, is an invalid model', async (name, message) => {
    const refused = await teachersOf({})
      .teachers.open(name)
      .catch((error: unknown) => error);
    expect(failedOutcome(refused)).toMatchObject({
      reason: 'invalid_model',
      message: expect.stringMatching(message) as unknown,
    });
  });

  it('that memory had no room for are no invalid models: another attempt may have it', async () => {
    const { teachers } = teachersOf(
      { 0: 'there' },
      2,
      () => false,
      () => {
        throw new RangeError('Array buffer allocation failed');
      },
    );
    const failed = await teachers.open('stage:sft').catch((error: unknown) => error);
    expect(failedOutcome(failed)).toMatchObject({ reason: 'out_of_memory' });
  });

  it('are not waited for once a pause is wanted', async () => {
    const { teachers } = teachersOf({ 0: 'never' }, 2, () => true);
    await expect(teachers.open('stage:sft')).rejects.toBeInstanceOf(Paused);
  });
});
