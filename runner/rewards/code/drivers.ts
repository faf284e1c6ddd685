// Builds the programs of a conversation from the driver texts beside this file: the judge, which holds the tests, and the
// answer, which holds the model's code. Settings travel inside the program text as a JSON string literal, which Python and
// JavaScript both read as a string.
import { readFileSync } from 'node:fs';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { Limits, Program } from '../sandbox/sandbox.ts';

export interface AnswerSettings {
  readonly code: string;
  /** What stands before the code, or '' (prompt-code.ts). */
  readonly prefix: string;
  /** The code defines the entry point: the prefix only lends it imports and helpers. */
  readonly whole: boolean;
  readonly setup: string;
}

/** One call of the entry point by JSON: LiveCodeBench's function tests. */
export interface Call {
  readonly args: readonly unknown[];
  readonly result: unknown;
}

export interface JudgeSettings {
  readonly prefix: string;
  readonly entry: string;
  readonly setup: string;
  /** Either programs or statements to run in order, */
  readonly tests?: readonly string[];
  /** or calls. */
  readonly calls?: readonly Call[];
}

type Side = 'judge' | 'answer' | 'syntax';

const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const sources = {
  python: {
    judge: text('python/values.py') + text('python/judge.py'),
    answer: text('python/values.py') + text('python/answer.py'),
    syntax: text('python/syntax.py'),
  },
  javascript: {
    judge: text('javascript/values.cjs') + text('javascript/assert.cjs') + text('javascript/judge.cjs'),
    answer: text('javascript/values.cjs') + text('javascript/answer.cjs'),
    syntax: text('javascript/syntax.cjs'),
  },
} as const;

/** Drivers of TypeScript are JavaScript: they strip the types of what they run themselves. */
export function driver(
  side: Side,
  language: CodeLanguage,
  settings: object,
  limits?: Partial<Limits>,
): Program {
  const host = language === 'python' ? 'python' : 'javascript';
  const literal = JSON.stringify(JSON.stringify({ ...settings, language }));
  const start = host === 'python' ? `main(json.loads(${literal}))` : `main(JSON.parse(${literal}));`;
  const main = `${sources[host][side]}\n${start}\n`;
  return { language: host, main, ...(limits === undefined ? {} : { limits }) };
}
