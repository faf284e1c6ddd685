// Programs whose outcome is known: they use standard input, output, error and the report, a little memory and time. If one
// fails, so may any program, and odd runs are our fault.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { BackEnd, Program, Run } from './sandbox.ts';

const python = `import os, sys
n = int(sys.stdin.readline())
print(sum(i * i for i in range(n)))
print("canary", file=sys.stderr)
os.write(3, b"alive")
`;

const javascript = (types: boolean): string => `const fs = require('node:fs');
const n${types ? ': number' : ''} = Number(fs.readFileSync(0, 'utf8'));
let sum${types ? ': number' : ''} = 0;
for (let i = 0; i < n; i++) sum += i * i;
console.log(sum);
console.error('canary');
fs.writeSync(3, 'alive');
`;

const quickjs = (types: boolean): string => `const n${types ? ': number' : ''} = Number(host.stdin());
let sum = 0;
for (let i = 0; i < n; i++) sum += i * i;
host.write(1, sum + '\\n');
host.write(2, 'canary\\n');
host.write(3, 'alive');
`;

export function canaryProgram(language: CodeLanguage, backEnd: BackEnd): Program {
  const types = language === 'typescript';
  const main = language === 'python' ? python : backEnd === 'quickjs' ? quickjs(types) : javascript(types);
  return { language, main, stdin: '1000\n' };
}

/** What is wrong with the canary's run; undefined if nothing. */
export function canaryComplaint(run: Run): string | undefined {
  if (run.status === 'down') return run.cause;
  if (run.status === 'stopped') return `a canary was stopped (${run.by}): ${run.stderr.trim()}`;
  if (run.code !== 0) return `a canary exited with ${run.code}: ${run.stderr.trim()}`;
  const right = run.stdout === '332833500\n' && run.stderr === 'canary\n' && run.report === 'alive';
  return right ? undefined : `a canary said ${JSON.stringify([run.stdout, run.stderr, run.report])}`;
}
