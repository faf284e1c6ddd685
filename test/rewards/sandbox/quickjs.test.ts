// The weak back end, which is there on every machine, and the choice between the two.
import { afterAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Dialect } from './sandbox-cases.ts';
import { sandboxCases } from './sandbox-cases.ts';

const sandbox = await openSandbox({ backEnds: ['quickjs'], slots: 2 });
afterAll(() => sandbox.close());

const dialect = (language: 'javascript' | 'typescript', type: string): Dialect => ({
  language,
  echo: `const text${type} = host.stdin();\nhost.write(1, text)`,
  fail: `const text${type} = 'broken';\nthrow new Error(text)`,
  report: `const text${type} = 'a report';\nhost.write(3, text)`,
  loop: 'for (;;);',
  judge: `host.write(4, '21\\n');
host.write(3, host.readLine());
host.write(1, host.readLine() === undefined ? 'end' : 'more')`,
  candidate: `host.write(4, 2 * Number(host.readLine()) + '\\n')`,
  stubborn: `host.write(4, 2 * Number(host.readLine()) + '\\n'); for (;;);`,
});

for (const one of [dialect('javascript', ''), dialect('typescript', ': string')]) {
  describe(`${one.language} in QuickJS`, () => sandboxCases(sandbox, one));
}

describe('a sandbox', () => {
  it('of QuickJS says that it has no Python', () => {
    expect(sandbox).toMatchObject({ backEnd: 'quickjs', languages: ['javascript', 'typescript'] });
    expect(sandbox.missing).toEqual({ python: 'QuickJS runs no Python' });
  });

  it('runs the jobs that a program leaves', async () => {
    const main = 'const f = async () => { await 1; host.write(1, "later") }; f()';
    expect(await sandbox.run({ language: 'javascript', main })).toMatchObject({ stdout: 'later', code: 0 });
  });

  it('does not take files that it cannot give', async () => {
    const run = await sandbox.run({ language: 'javascript', main: '1', files: { 'a.js': '1' } });
    expect(run).toMatchObject({ status: 'down', cause: expect.stringContaining('no files') as string });
  });

  it('is the first back end that can run something', async () => {
    const chosen = await openSandbox({ slots: 1 });
    expect(chosen.languages).toContain('javascript');
    expect([...chosen.languages, ...Object.keys(chosen.missing)].sort()).toEqual([
      'javascript',
      'python',
      'typescript',
    ]);
    await chosen.close();
  });
});
