// Rows of registered datasets as typed tasks, and files that are not what they should be.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRows } from '../../runner/data/rows.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: TempDir;
beforeAll(async () => void (dir = await tempDir('rows')));
afterAll(() => dir.remove());

const file = async (text: string): Promise<string> => {
  const path = join(dir.path, 'rows.jsonl');
  await writeFile(path, text);
  return path;
};

describe('readRows', () => {
  it('reads rows in order, blank lines and a missing last line break aside', async () => {
    const path = await file(
      '{"prompt":"1+1","answer":"2"}\n\n{"prompt":[{"role":"user","content":"2+2"}],"answer":4}',
    );
    expect(await readRows(path, 'math')).toEqual([
      { prompt: '1+1', answer: '2' },
      { prompt: [{ role: 'user', content: '2+2' }], answer: '4' },
    ]);
  });

  it('keeps line separators that only look like line breaks', async () => {
    const path = await file('{"prompt":"a\u2028b\u0085c","answer":"2"}\r\n');
    expect(await readRows(path, 'math')).toEqual([{ prompt: 'a\u2028b\u0085c', answer: '2' }]);
  });

  it.each([
    ['a broken line', '{"prompt":"p","answer":"1"}\n{"prompt":', /rows\.jsonl: line 2: not JSON/],
    ['a missing field', '{"prompt":"p"}\n', /rows\.jsonl: line 1: not a math row: \/answer/],
    ['a foreign field', '{"prompt":"p","answer":"1","x":1}\n', /line 1: not a math row/],
    ['no row', '\n\n', /holds no row/],
  ])('names the place of %s', async (_, text, message) => {
    await expect(readRows(await file(text), 'math')).rejects.toThrow(message);
  });

  it('names a file that is not there', async () => {
    await expect(readRows(join(dir.path, 'none.jsonl'), 'sft')).rejects.toThrow(
      /none\.jsonl: cannot be read/,
    );
  });
});
