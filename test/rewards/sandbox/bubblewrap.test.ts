// The strong back end: what all back ends do, and what only it has. Skipped where bubblewrap cannot be had.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { Identities } from '../../../runner/rewards/sandbox/bubblewrap/identity.ts';
import { Interpreter } from '../../../runner/rewards/sandbox/bubblewrap/interpreter.ts';
import { createScratch } from '../../../runner/rewards/sandbox/bubblewrap/scratch.ts';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import { systemCallFilter } from '../../../runner/rewards/sandbox/bubblewrap/system-calls.ts';
import { whyNot, withAdvice } from '../../../runner/rewards/sandbox/bubblewrap/requirements.ts';
import { defaultLimits } from '../../../runner/rewards/sandbox/limits.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Dialect } from './sandbox-cases.ts';
import { sandboxCases } from './sandbox-cases.ts';

const sandbox = await openSandbox({ backEnds: ['bubblewrap'], slots: 2 });
afterAll(() => sandbox.close());

const python: Dialect = {
  language: 'python',
  echo: 'import sys\nsys.stdout.write(sys.stdin.read())',
  fail: 'raise ValueError("broken")',
  report: 'import os\nos.write(3, b"a report")',
  loop: 'while True: pass',
  judge: `import os
os.write(4, b"21\\n")
os.write(3, os.read(4, 100))
os.write(1, b"end" if os.read(4, 100) == b"" else b"more")
`,
  candidate: 'import os\nos.write(4, b"%d" % (int(os.read(4, 100)) * 2))',
  stubborn: 'import os\nos.write(4, b"%d" % (int(os.read(4, 100)) * 2))\nwhile True: pass',
};
const node = (language: 'javascript' | 'typescript', type: string): Dialect => ({
  language,
  echo: `const text${type} = require('fs').readFileSync('/dev/stdin', 'utf8');\nprocess.stdout.write(text)`,
  fail: `const text${type} = 'broken';\nthrow new Error(text)`,
  report: `const text${type} = 'a report';\nrequire('fs').writeSync(3, text)`,
  loop: 'for (;;);',
  judge: `const fs = require('fs');
const bytes = Buffer.alloc(100);
fs.writeSync(4, '21\\n');
fs.writeSync(3, bytes.subarray(0, fs.readSync(4, bytes)));
process.stdout.write(fs.readSync(4, bytes) === 0 ? 'end' : 'more');`,
  candidate: `const fs = require('fs'), bytes = Buffer.alloc(100);
fs.writeSync(4, String(2 * Number(bytes.subarray(0, fs.readSync(4, bytes)).toString())));`,
  stubborn: `const fs = require('fs'), bytes = Buffer.alloc(100);
fs.writeSync(4, String(2 * Number(bytes.subarray(0, fs.readSync(4, bytes)).toString())));
for (;;);`,
});

for (const dialect of [python, node('javascript', ''), node('typescript', ': string')]) {
  const why = sandbox.missing[dialect.language];
  describe.skipIf(why !== undefined)(
    `${dialect.language} in bubblewrap${why ? ` (skipped: ${why})` : ''}`,
    () => {
      sandboxCases(sandbox, dialect);
    },
  );
}

// As from a shell. Node closes the lowest ones to its children by itself, and none behind a gap.
describe.skipIf(sandbox.languages.length === 0)('descriptors that the runner inherited', () => {
  const listing: Readonly<Partial<Record<CodeLanguage, string>>> = {
    python: `import os
for fd in os.listdir('/proc/self/fd'):
    try: print(os.readlink('/proc/self/fd/' + fd))
    except OSError: pass`,
    javascript: `const fs = require('fs');
for (const fd of fs.readdirSync('/proc/self/fd')) try { console.log(fs.readlinkSync('/proc/self/fd/' + fd)); } catch {}`,
  };
  it.each(sandbox.languages.filter((language) => listing[language]))('are closed to %s', async (language) => {
    const folder = await mkdtemp(join(tmpdir(), 'inherited-'));
    const program = `import { openSandbox } from ${JSON.stringify(import.meta.resolve('../../../runner/rewards/sandbox/open.ts'))};
const sandbox = await openSandbox({ backEnds: ['bubblewrap'], slots: 1 });
process.stdout.write(JSON.stringify(await sandbox.run(${JSON.stringify({ language, main: listing[language] })})));
await sandbox.close();`;
    const script = `exec 251>"$0/lock" && exec "$1" --input-type=module -e "$2"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script, folder, process.execPath, program]);
    await rm(folder, { recursive: true });
    const run = JSON.parse(stdout) as { status: string; stdout: string };
    expect(run.status).toBe('exited');
    expect(run.stdout).toContain('socket:');
    expect(run.stdout).not.toContain('/lock');
  });
});

describe.skipIf(!sandbox.languages.includes('python'))('Python in bubblewrap', () => {
  const run = (main: string, rest = {}) => sandbox.run({ language: 'python', main, ...rest });

  it('ends with the status of the program', async () => {
    expect(await run('exit(7)')).toMatchObject({ status: 'exited', code: 7 });
    expect(await run('import sys\nsys.exit("no")')).toMatchObject({
      status: 'exited',
      code: 1,
      stderr: 'no\n',
    });
  });

  it('is the main module, beside its other files', async () => {
    const main = `import dataclasses, typing, other
@dataclasses.dataclass
class Point:
    at: "Number"
Number = int
print(__name__, typing.get_type_hints(Point)["at"].__name__, other.value, open("data.txt").read())
`;
    const files = {
      'other.py': 'value = 5',
      'data.txt': 'text',
      'json.py': 'raise ValueError("hides the real one")',
    };
    expect(await run(main, { files })).toMatchObject({ stdout: '__main__ int 5 text\n' });
  });

  it('starts afresh every time', async () => {
    const main = 'import os\nprint(sorted(os.listdir("/tmp")), hash("a"))\nopen("mark", "w").close()';
    const [one, two] = [await run(main), await run(main)];
    expect(one).toMatchObject({ status: 'exited', stdout: expect.stringContaining("['main.py']") as string });
    expect(two).toMatchObject({ stdout: one.status === 'exited' ? one.stdout : '' });
  });

  it('takes other limits of the kernel for one run', async () => {
    const main = 'x = bytearray(200 * 2**20)\nprint(len(x))';
    const limits = { memoryBytes: 128 * 2 ** 20 };
    expect(await run(main)).toMatchObject({ status: 'exited', code: 0 });
    expect(await run(main, { limits })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('MemoryError') as string,
    });
  });

  it('says that it is down once closed, and nothing is wrong with the program', async () => {
    const closed = await openSandbox({ backEnds: ['bubblewrap'], slots: 1 });
    const last = closed.run({ language: 'python', main: 'while True: pass' });
    await expect.poll(async () => (await sandbox.canary('python')) === undefined).toBe(true);
    await closed.close();
    expect((await last).status).not.toBe('exited');
    expect(await closed.run({ language: 'python', main: 'print(1)' })).toMatchObject({ status: 'down' });
  });
});

describe.skipIf(!sandbox.languages.includes('javascript'))('Node.js in bubblewrap', () => {
  const run = (main: string, rest = {}) => sandbox.run({ language: 'javascript', main, ...rest });

  it('loses nothing of what is printed before an exit', async () => {
    const printed = await run(
      `console.log('x'.repeat(1.5e6));\nrequire('fs').writeSync(1, 'end');\nprocess.exit(0)`,
    );
    expect(printed.status === 'exited' && printed.stdout.length).toBe(1.5e6 + 1 + 'end'.length);
  });

  it('takes modules of both kinds, and files beside the program', async () => {
    const files = { 'other.js': 'exports.value = 5' };
    expect(
      await run(`console.log(require('./other').value, require.main === module)`, { files }),
    ).toMatchObject({
      stdout: '5 true\n',
    });
    expect(
      await run(`import { readFileSync } from 'node:fs';\nconsole.log(await readFileSync(0, 'utf8'))`, {
        stdin: 'x',
      }),
    ).toMatchObject({ stdout: 'x\n' });
  });

  it('streams standard input', async () => {
    const main = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('<' + line + '>'))`;
    expect(await run(main, { stdin: 'a\nb\n' })).toMatchObject({ stdout: '<a>\n<b>\n' });
  });

  it('transforms what TypeScript has beyond types', async () => {
    const main = 'enum Colour { red = 4 }\nconsole.log(Colour.red)';
    expect(await sandbox.run({ language: 'typescript', main })).toMatchObject({ stdout: '4\n', stderr: '' });
  });
});

describe('what bubblewrap needs', () => {
  it('is named with what to install', async () => {
    const path = await mkdtemp(join(tmpdir(), 'empty-'));
    expect(await whyNot('python', { path })).toBe('bwrap is not installed: apt-get install bubblewrap');
    await rmdir(path);
  });

  it.skipIf(sandbox.languages.length === 0)('may be there without Python', async () => {
    const python = '/nowhere/python3';
    expect(await whyNot('python', { python })).toBe('/nowhere/python3 is not there: apt-get install python3');
    expect(await whyNot('javascript', { python })).toBeUndefined();
  });

  it('is explained where a machine forbids it', () => {
    const complaint = 'bwrap: setting up uid map: Permission denied';
    expect(withAdvice(complaint)).toMatch(
      /^bwrap: setting up uid map: Permission denied \(user namespaces are closed.*AppArmor/,
    );
    expect(withAdvice('something else')).toBe('something else');
  });

  it('is a processor whose system calls we know', () => {
    expect(systemCallFilter('arm64').length % 8).toBe(0);
    expect(() => systemCallFilter('riscv64')).toThrow('riscv64, only for x64 and arm64');
  });
});

describe('an interpreter', () => {
  it('that cannot even be started is an error to catch, not the end of this process', async () => {
    const scratch = await createScratch();
    const missing: Pick<Identities, 'next'> = { next: () => ['/no/such/program'] };
    const started = Interpreter.start(scratch, missing as Identities, 'python', defaultLimits);
    await expect(started).rejects.toThrow('ENOENT');
    await scratch.remove();
  });
});
