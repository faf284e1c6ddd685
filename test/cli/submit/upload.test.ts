// What submit tells the service about the files of a spec: the grader that proves them, and what it says where that takes a while.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSpecFile, withData } from '../../../cli/submit/spec-file.ts';
import { uploadData } from '../../../cli/submit/upload.ts';
import { mathRows, sftRows, spec, useApi } from '../../api/support.ts';
import type { TempDir } from '../../support/temp-dir.ts';
import { tempDir } from '../../support/temp-dir.ts';

const api = useApi();
let dir: TempDir;
beforeAll(async () => {
  dir = await tempDir('upload');
  await writeFile(join(dir.path, 'sft.jsonl'), sftRows);
  await writeFile(join(dir.path, 'train.jsonl'), mathRows);
  await writeFile(join(dir.path, 'test.jsonl'), '{"prompt":"3+3=","answer":"6"}\n');
});
afterAll(() => dir.remove());

test('files are proven with the grader of the stage or suite that names them', async () => {
  const file = join(dir.path, 'spec.json');
  const suite = { name: 'sums', data: 'file:test.jsonl', grader: { type: 'math' } };
  const posted = spec({
    stages: [
      { kind: 'sft', data: 'file:sft.jsonl', steps: 2 },
      { kind: 'math', data: 'file:train.jsonl', steps: 2, max_response: 8, grader: { type: 'prefix' } },
    ],
    evaluate: { suites: [suite] },
  });
  await writeFile(file, JSON.stringify(posted));
  const said: string[] = [];
  const ids = await uploadData(api.client(), readSpecFile(file).localData, (text) => said.push(text));
  const found = await Promise.all(
    ['/stages/0/data', '/stages/1/data', '/evaluate/suites/0/data'].map((pointer) =>
      api.client().dataset(ids.get(pointer)!),
    ),
  );
  expect(found.map(({ grader, state }) => [grader, state])).toEqual([
    [null, 'ready'],
    [{ type: 'prefix' }, 'ready'],
    [{ type: 'math' }, 'validating'],
  ]);
  const waits = said.filter((line) => line.includes('waits'));
  expect(waits).toEqual([expect.stringMatching(/^dataset test-math-.*proves its gold.*no runner is alive/)]);
});

test('files of domains and repairs that distil are of the kind that their first row is', async () => {
  const file = join(dir.path, 'distil.json');
  await writeFile(join(dir.path, 'talks.jsonl'), '{"prompt":"hi","chosen":"a","rejected":"b"}\n');
  await writeFile(join(dir.path, 'list.json'), '[{"prompt":"1+1=","answer":"2"}]');
  const domain = (name: string, data: string) => ({ domain: name, data, teacher: { uri: '/models/t' } });
  const domains = [domain('chat', 'file:talks.jsonl'), domain('math', 'file:list.json')];
  const require = { metric: 'sums.non_thinking.avg@1', at_least: 0.5 };
  const repair = { max_response: 8, domains };
  const posted = spec({
    stages: [
      { kind: 'math', data: 'math', steps: 2, max_response: 8, grader: { type: 'prefix' } },
      { kind: 'distill', steps: 2, max_response: 8, domains },
    ],
    gates: [{ after: 'math', require, otherwise: 'distill', repair }],
  });
  await writeFile(file, JSON.stringify(posted));
  const { localData, spec: read } = readSpecFile(file);
  const ids = await uploadData(api.client(), localData, () => undefined);
  const places = ['/stages/1', '/gates/0/repair'].flatMap((at) =>
    [0, 1].map((index) => `${at}/domains/${index}/data`),
  );
  expect([...ids.keys()]).toEqual(expect.arrayContaining(places));
  const kinds = await Promise.all(
    places.map(async (place) => (await api.client().dataset(ids.get(place)!)).kind),
  );
  expect(kinds).toEqual(['preference', 'math', 'preference', 'math']);
  await api.client().createDataset({ name: 'math', kind: 'math' }, mathRows);
  const { expanded } = await api.client().createJob(withData(read, ids));
  const distilled = expanded.stages.filter((stage) => stage.kind === 'distill');
  expect(distilled.map(({ name, domains: [first] }) => [name, first?.data])).toEqual([
    ['repair-math', ids.get('/gates/0/repair/domains/0/data')],
    ['distill', ids.get('/stages/1/domains/0/data')],
  ]);
});
