// What submit tells the service about the files of a spec: the grader that proves them, and what it says where that takes a while.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSpecFile } from '../../../cli/submit/spec-file.ts';
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
