// Spec files: references found and replaced, faults named with their place, all before anything is uploaded.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSpecFile, withData } from '../../../cli/submit/spec-file.ts';
import { datasetName } from '../../../cli/submit/upload.ts';
import type { TempDir } from '../../support/temp-dir.ts';
import { tempDir } from '../../support/temp-dir.ts';

let dir: TempDir;
beforeEach(async () => {
  dir = await tempDir('spec');
  writeFileSync(join(dir.path, 'rows.jsonl'), '{"prompt":"1","answer":"2"}\n');
  mkdirSync(join(dir.path, 'model'));
});
afterEach(() => dir.remove());

const suite = { name: 's', data: 'file:rows.jsonl', grader: { type: 'exact' } };
const spec = (changes: object = {}): object => ({
  type: 'cascade',
  model: { init: { from: 'hf', uri: './model' } },
  stages: [
    { kind: 'sft', data: 'known' },
    { kind: 'math', data: 'file:rows.jsonl', steps: 1 },
  ],
  evaluate: { suites: [suite] },
  ...changes,
});

function write(contents: unknown): string {
  const path = join(dir.path, 'spec.json');
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents));
  return path;
}

describe('readSpecFile', () => {
  it('finds files by their places, and makes model directories absolute', () => {
    const { spec: read, localData } = readSpecFile(write(spec()));
    expect(read.model.init).toEqual({ from: 'hf', uri: join(dir.path, 'model') });
    expect(localData.map(({ pointer, kinds }) => [pointer, kinds[0]])).toEqual([
      ['/stages/1/data', 'math'],
      ['/evaluate/suites/0/data', 'math'],
    ]);
    expect(localData[0]?.file).toBe(join(dir.path, 'rows.jsonl'));
  });

  it('finds the files of a preset’s stages where they were posted', () => {
    const stages = [
      { name: 'math', data: 'file:rows.jsonl' },
      { name: 'sft-1', data: 'rows' },
    ];
    const preset = spec({ preset: 'nemotron-cascade-8b', stages, evaluate: undefined });
    const { spec: read, localData } = readSpecFile(write(preset));
    expect(localData.map(({ pointer, kinds }) => [pointer, kinds[0]])).toEqual([['/stages/0/data', 'math']]);
    const replaced = withData(read, new Map([['/stages/0/data', 'ds_1']]));
    expect(replaced).toMatchObject({ stages: [{ name: 'math', data: 'ds_1' }, { name: 'sft-1' }] });
  });

  it('makes directories of teachers absolute, in stages and repairs, and names those that are not there', () => {
    const taught = (uri: string) => ({ domains: [{ domain: 'x', data: 'known', teacher: { uri } }] });
    const gate = (uri: string) => ({
      after: 'math',
      require: { metric: 's.non_thinking.avg@1', at_least: 0.5 },
      otherwise: 'distill',
      repair: taught(uri),
    });
    const math = { kind: 'math', data: 'known', steps: 1 };
    const posted = (uri: string, repair: string) =>
      spec({ stages: [math, { kind: 'distill', steps: 1, ...taught(uri) }], gates: [gate(repair)] });
    const { spec: read } = readSpecFile(write(posted('./model', 's3://models/x')));
    const absolute = { teacher: { uri: join(dir.path, 'model') } };
    expect(read).toMatchObject({
      stages: [{}, { domains: [absolute] }],
      gates: [{ repair: { domains: [{ teacher: { uri: 's3://models/x' } }] } }],
    });
    const stage = { kind: 'distill', steps: 1, ...taught('model') };
    expect(readSpecFile(write(spec({ type: 'distill', stages: undefined, stage }))).spec).toMatchObject({
      stage: { domains: [absolute] },
    });
    expect(() => readSpecFile(write(posted('./model', './none')))).toThrow(
      '/gates/0/repair/domains/0/teacher/uri: there is no teacher directory',
    );
  });

  it.each(['s3://models/x', 'file:///models/x', '/models/x', 'https://host/x'])(
    'leaves %s as it is',
    (uri) => {
      const { spec: read } = readSpecFile(write(spec({ model: { init: { from: 'hf', uri } } })));
      expect(read.model.init).toEqual({ from: 'hf', uri });
    },
  );

  it.each([
    ['{"type": ', 'is not JSON'],
    [{ type: 'cascade' }, '/stages'],
    [spec({ stages: [{ kind: 'sft', data: 'x', lr: -1 }] }), '/stages/0/lr'],
    [spec({ stagess: [] }), '/stagess: there is no such field'],
    [spec({ type: 'mystery' }), '/type'],
    [[], 'is not a job spec'],
    [spec({ stages: [{ kind: 'sft', data: 'file:absent.jsonl' }] }), '/stages/0/data: there is no file'],
    [
      spec({ model: { init: { from: 'hf', uri: 'absent' } } }),
      '/model/init/uri: there is no model directory',
    ],
    [
      spec({ model: { init: { from: 'hf', uri: 'Qwen/Qwen3-0.6B' } } }),
      'not fetched from the Hugging Face hub',
    ],
  ])('refuses %j', (contents, message) => {
    expect(() => readSpecFile(write(contents))).toThrow(message);
  });

  it('refuses a file that is not there', () => {
    expect(() => readSpecFile(join(dir.path, 'absent.json'))).toThrow('absent.json');
  });
});

describe('withData', () => {
  it('replaces by pointer and leaves the spec as it was', () => {
    const { spec: read } = readSpecFile(write(spec()));
    const replaced = withData(read, new Map([['/stages/1/data', 'ds_1']]));
    expect(replaced).toMatchObject({ stages: [{ data: 'known' }, { data: 'ds_1' }] });
    expect(read).toMatchObject({ stages: [{ data: 'known' }, { data: 'file:rows.jsonl' }] });
  });
});

describe('datasetName', () => {
  it('holds the content: same bytes, same name', async () => {
    const [a, b] = [join(dir.path, 'Train set!.jsonl.gz'), join(dir.path, 'other.jsonl')];
    writeFileSync(a, 'x');
    writeFileSync(b, 'y');
    expect(await datasetName(a, 'math')).toBe('Train-set--math-2d711642b726');
    expect((await datasetName(b, 'math')).slice(-12)).not.toBe('2d711642b726');
  });
});
