// The swe grader from response to reward: -1, 0, 1 and between, in both formats, on whole files and on partial rows.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mapRow } from '../../../api/contract/mapping.ts';
import type { SweRow } from '../../../api/contract/task.ts';
import { sweFaults } from '../../../runner/rewards/swe/row.ts';
import { LONGEST_ANSWER, sweVerifier as createSweVerifier } from '../../../runner/rewards/swe.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

const sweVerifier = createSweVerifier();

const A = [
  'def add(a, b):',
  '    return a - b',
  '',
  'def sub(a, b):',
  '    return a - b',
  '',
  'TITLE',
  '=======',
  'end',
];
const files = { 'src/a.py': `${A.join('\n')}\n`, 'src/b.py': 'x = 1\ny = 2', 'empty.py': '' };
const patch = `diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1,4 +1,4 @@
 def add(a, b):
-    return a - b
+    return a + b
 
 def sub(a, b):
`;
const row: SweRow = { prompt: 'add subtracts', files, patch };

const block = (path: string, search: string, replace: string) =>
  `### ${path}\n<<<<<<< SEARCH\n${search}${search === '' ? '' : '\n'}=======\n${replace}${replace === '' ? '' : '\n'}>>>>>>> REPLACE\n`;
const fixed = block('src/a.py', 'def add(a, b):\n    return a - b', 'def add(a, b):\n    return a + b');

async function valueOf(response: string, of: SweRow = row): Promise<number> {
  const reward = await sweVerifier.grade(of, response);
  if (reward.status === 'unscored') throw new Error(reward.detail);
  return reward.value;
}
const codeOf = async (response: string, of: SweRow = row) => {
  const reward = await sweVerifier.grade(of, response);
  return reward.status === 'scored' ? 'scored' : `${reward.code}: ${reward.detail ?? ''}`;
};

describe('the gold’s own change is worth 1', () => {
  it.each([
    ['its patch', sweVerifier.goldResponse(row)!],
    ['a block in a fence', `Here it is.\n\`\`\`python\n${fixed}\`\`\`\nDone.`],
    [
      'a block whose path stands before the fence',
      `### \`src/a.py\`\n\`\`\`\n${fixed.split('\n').slice(1).join('\n')}\`\`\``,
    ],
    ['a block after thinking about another', `<think>${block('src/b.py', 'x = 1', 'x = 3')}</think>${fixed}`],
    ['a/ before the path', fixed.replace('src/a.py', 'a/src/a.py')],
    ['./ before the path', fixed.replace('src/a.py', './src/a.py')],
    ['CRLF', fixed.replaceAll('\n', '\r\n')],
    ['a diff with CRLF', patch.replaceAll('\n', '\r\n')],
    [
      'more context than the gold has',
      block('src/a.py', A.slice(0, 6).join('\n'), A.slice(0, 6).join('\n').replace('-', '+')),
    ],
    [
      'two blocks, the second on what the first left',
      block('src/a.py', 'def add(a, b):\n    return a - b', 'def add(a, b):\n    return a * b') +
        block('src/a.py', '    return a * b', '    return a + b'),
    ],
    ['a diff without prefixes', patch.split('\n').slice(1).join('\n').replace('a/', '').replace('b/', '')],
    ['a diff at a wrong line', patch.replace('@@ -1,4 +1,4 @@', '@@ -40,4 +40,4 @@')],
    ['a diff with wrong counts', patch.replace('@@ -1,4 +1,4 @@', '@@ -1,9 +1,7 @@')],
    ['a diff whose empty context line lost its blank', patch.replace('\n \n', '\n\n')],
    ['a second change that changes nothing', fixed + block('src/b.py', 'x = 1', 'x = 1')],
  ])('%s', async (_, response) => {
    expect(await valueOf(response)).toBe(1);
  });
});

describe('what cannot be read or does not apply is invalid, -1', () => {
  it.each([
    ['nothing', '', 'neither a search/replace block nor a diff'],
    ['prose', 'Replace the minus by a plus.', 'neither'],
    ['thinking without end', `<think>${fixed}`, 'never ended'],
    ['a change in the thinking only', `<think>${fixed}</think>So be it.`, 'neither'],
    ['search text that is not there', block('src/a.py', 'return a / b', 'return a + b'), 'not in the file'],
    ['search text but for a blank', block('src/a.py', '   return a - b', 'x'), 'not in the file'],
    [
      'search text at two places',
      block('src/a.py', '    return a - b', '    return a + b'),
      'more than one place',
    ],
    ['an empty SEARCH in a file with lines', block('src/a.py', '', 'x'), 'empty SEARCH'],
    ['neither SEARCH nor REPLACE', block('new.py', '', ''), 'neither SEARCH nor REPLACE'],
    ['a file that is not there', block('src/c.py', 'x = 1', 'x = 2'), 'not there'],
    ['no path', fixed.split('\n').slice(1).join('\n'), 'before any'],
    ['no REPLACE marker', fixed.replace('>>>>>>> REPLACE', ''), 'without ">>>>>>> REPLACE"'],
    ['no divider', fixed.replace('=======\n', ''), 'without "======="'],
    ['one good block and one bad', fixed + block('src/b.py', 'z', 'q'), 'not in the file'],
    [
      'a block that searches for what one before it removed',
      fixed + block('src/a.py', 'def add(a, b):\n    return a - b', 'pass'),
      'not in the file',
    ],
    ['a hunk that does not match', patch.replace('def add(a, b)', 'def add(a, c)'), 'does not match'],
    ['a hunk of an unknown file', patch.replaceAll('src/a.py', 'src/z.py'), 'no such file'],
    ['a hunk without a file', patch.split('\n').slice(3).join('\n'), 'before any file'],
    ['a broken hunk header', patch.replace('@@ -1,4 +1,4 @@', '@@ wherever @@'), 'not a hunk header'],
    [
      'a hunk that fits two other places',
      '--- a/src/a.py\n+++ b/src/a.py\n@@ -90,1 +90,1 @@\n-    return a - b\n+    return a + b\n',
      'more than one other place',
    ],
    [
      'two hunks on the same line',
      `${patch}${patch.split('\n').slice(3).join('\n').replace('a + b', 'a * b')}`,
      'same lines',
    ],
    ['creating what exists', '--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1 @@\n+x\n', 'but exists'],
    [
      'deleting half a file',
      '--- a/src/b.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x = 1\n',
      'lines of it remain',
    ],
    ['a binary file', 'diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n', 'binary'],
    ['a path that only objects have', block('__proto__', 'x', 'y'), 'not there'],
    ['an answer beyond the limit', `${fixed}${' '.repeat(LONGEST_ANSWER)}`, 'characters'],
  ])('%s', async (_, response, detail) => {
    expect(await valueOf(response)).toBe(-1);
    expect(await codeOf(response)).toMatch(/^unparsable: /);
    expect(await codeOf(response)).toContain(detail);
  });
});

describe('between', () => {
  it('no change is 0', async () => {
    expect(await valueOf(block('src/b.py', 'x = 1', 'x = 1'))).toBe(0);
    expect(await valueOf(patch.replace('-    return a - b\n+    return a + b', '     return a - b'))).toBe(0);
  });

  it('another change of the same file is worth the ratio of the two diffs', async () => {
    // 'a + b' against 'a * b': one character of the diff differs.
    const length =
      '@@ -1,5 +1,5 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n \n def sub(a, b):\n     return a - b'
        .length;
    expect(await valueOf(fixed.replace('a + b', 'a * b'))).toBeCloseTo((length - 1) / length, 12);
  });

  it('a file that one side alone changes counts 0 in the mean over the union', async () => {
    expect(await valueOf(fixed + block('src/b.py', 'y = 2', 'y = 3'))).toBe(0.5);
    expect(await valueOf(fixed + block('new.py', '', 'x') + block('src/b.py', 'y = 2', 'y = 3'))).toBeCloseTo(
      1 / 3,
      12,
    );
    expect(await valueOf(block('src/b.py', 'y = 2', 'y = 3'))).toBe(0);
  });

  it('a line like the divider in the text of a block is no divider', async () => {
    const gold = '--- a/src/a.py\n+++ b/src/a.py\n@@ -7,3 +7,3 @@\n-TITLE\n+Title\n =======\n end\n';
    expect(
      await valueOf(block('src/a.py', 'TITLE\n=======\nend', 'Title\n=======\nend'), { ...row, patch: gold }),
    ).toBe(1);
  });
});

describe('files made, removed, renamed', () => {
  const created = {
    ...row,
    patch:
      'diff --git a/n.py b/n.py\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n',
  };
  const deleted = {
    ...row,
    patch:
      'diff --git a/src/b.py b/src/b.py\ndeleted file mode 100644\n--- a/src/b.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x = 1\n-y = 2\n\\ No newline at end of file\n',
  };
  const renamed = {
    ...row,
    patch:
      'diff --git a/src/b.py b/lib/b.py\nsimilarity index 50%\nrename from src/b.py\nrename to lib/b.py\n--- a/src/b.py\n+++ b/lib/b.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n\\ No newline at end of file\n+y = 3\n',
  };
  const moved = {
    ...row,
    patch:
      'diff --git a/src/b.py b/lib/b.py\nsimilarity index 100%\nrename from src/b.py\nrename to lib/b.py\n',
  };

  it.each([
    ['created, by its patch', created, sweVerifier.goldResponse(created)!],
    ['created, by an empty SEARCH', created, block('n.py', '', 'x\ny')],
    [
      'filled',
      { ...row, patch: '--- a/empty.py\n+++ b/empty.py\n@@ -0,0 +1 @@\n+x\n' },
      block('empty.py', '', 'x'),
    ],
    ['deleted, by its patch', deleted, sweVerifier.goldResponse(deleted)!],
    ['deleted, by a block that leaves no line', deleted, block('src/b.py', 'x = 1\ny = 2', '')],
    ['renamed with a change', renamed, sweVerifier.goldResponse(renamed)!],
    [
      'renamed by blocks',
      renamed,
      block('src/b.py', 'x = 1\ny = 2', '') + block('lib/b.py', '', 'x = 1\ny = 3'),
    ],
    ['moved', moved, sweVerifier.goldResponse(moved)!],
  ])('%s: 1', async (_, of, response) => {
    expect(sweFaults(of)).toEqual([]);
    expect(await valueOf(response, of)).toBe(1);
  });

  it('a rename counts as one file gone and one made', async () => {
    expect(await valueOf(block('src/b.py', 'x = 1\ny = 2', ''), moved)).toBe(0.5);
  });

  it('paths in C quotes', async () => {
    const quoted = '--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n@@ -1 +1 @@\n-x\n+y\n';
    const of = { prompt: 'p', files: { 'café.py': 'x\n' }, patch: quoted };
    expect(await valueOf(block('café.py', 'x', 'y'), of)).toBe(1);
  });
});

describe('rows', () => {
  it('name what is wrong with them', async () => {
    const faults = (of: Partial<SweRow>) => sweFaults({ ...row, ...of }).join();
    expect(faults({})).toBe('');
    expect(faults({ patch: 'fix it' })).toContain('not a unified diff');
    expect(faults({ files: {} })).toContain('no such file');
    expect(faults({ files: { 'src/a.py': 'other' } })).toContain('does not match');
    expect(faults({ patch: patch.replace('-1,4 +1,4', '-1,5 +1,5') })).toContain('counts');
    expect(faults({ patch: patch.replace('+    return a + b', '+    return a - b') })).toContain(
      'changes no line',
    );
    expect(faults({ patch: `${patch}${'+x\n'.repeat(100_000)}` })).toContain('longer than');
    const broken = await sweVerifier.grade({ ...row, files: {} }, fixed);
    expect(broken).toMatchObject({ status: 'unscored', code: 'broken_row' });
  });

  it('without files are partial: what the patch shows can be edited, nothing else', async () => {
    const partial: SweRow = { prompt: 'p', patch };
    expect(await valueOf(fixed, partial)).toBe(1);
    expect(await valueOf(sweVerifier.goldResponse(partial)!, partial)).toBe(1);
    expect(await valueOf(block('src/a.py', 'TITLE', 'Title'), partial)).toBe(-1);
  });

  it.skipIf(testDataDir === undefined)(
    `of SWE-bench register by field mapping and their golds reach 1 [${noTestData}]`,
    async () => {
      for (const file of ['swe/debug_20240322.json', 'swe/swe-bench-lite-test.json']) {
        const foreign = JSON.parse(readFileSync(testData(file), 'utf8')) as unknown[];
        expect(foreign).toHaveLength(5);
        for (const instance of foreign) {
          const mapped = mapRow(instance, {
            kind: 'swe',
            fields: { prompt: 'problem_statement', patch: 'patch' },
            answerFormat: 'plain',
          });
          if (!('row' in mapped)) throw new Error(JSON.stringify(mapped));
          const of = mapped.row as SweRow;
          expect(sweFaults(of)).toEqual([]);
          expect(of.files).toBeUndefined();
          expect(await sweVerifier.grade(of, sweVerifier.goldResponse(of)!)).toMatchObject({
            status: 'scored',
            value: 1,
          });
        }
      }
    },
  );
});
