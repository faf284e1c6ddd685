// From words to (command, what was given). An unknown word is refused with the nearest known one.
import { parseArgs } from 'node:util';
import type { Command, Given } from './command.ts';
import { nearest } from './nearest.ts';
import { UsageError } from './user-error.ts';

export type Request =
  | { readonly type: 'help'; readonly command?: Command }
  | { readonly type: 'version' }
  | { readonly type: 'run'; readonly command: Command; readonly given: Given };

/** @throws UsageError naming the word that is not understood. */
export function parse(words: readonly string[], commands: readonly Command[]): Request {
  const [first] = words;
  if (first === undefined || first === '--help' || first === '-h') return { type: 'help' };
  if (first === '--version') return { type: 'version' };
  if (first === 'help') return helpFor(words.slice(1), commands);
  const command = findCommand(words, commands);
  const rest = words.slice(command.name.split(' ').length);
  if (untilEnd(rest).some((word) => word === '--help' || word === '-h')) return { type: 'help', command };
  return { type: 'run', command, given: given(command, rest) };
}

function helpFor(words: readonly string[], commands: readonly Command[]): Request {
  return words.length === 0 ? { type: 'help' } : { type: 'help', command: findCommand(words, commands) };
}

function findCommand(words: readonly string[], commands: readonly Command[]): Command {
  const found = commands.find(({ name }) => name.split(' ').every((part, i) => words[i] === part));
  if (found !== undefined) return found;
  const [first = '', second] = words;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) {
    const names = group.map(({ name }) => `millrace ${name}`).join(', ');
    throw new UsageError(
      `${second === undefined ? `${first} needs a second word` : `there is no command ${first} ${second}`}: ${names}`,
    );
  }
  throw new UsageError(
    `there is no command ${first}${hint(
      first,
      commands.map(({ name }) => name),
    )} See millrace --help.`,
  );
}

function given(command: Command, words: readonly string[]): Given {
  refuseUnknownFlags(command, words);
  const { values, positionals } = parseFlags(command, words);
  const missing = command.arguments[positionals.length];
  if (missing !== undefined)
    throw new UsageError(`millrace ${command.name} needs ${missing.name}: ${missing.help}`);
  const extra = positionals[command.arguments.length];
  if (extra !== undefined)
    throw new UsageError(
      `millrace ${command.name} does not take ${extra}. See millrace ${command.name} --help.`,
    );
  return {
    argument: (name) => positionals[command.arguments.findIndex((one) => one.name === name)] ?? '',
    text: (flag) => values[flag] as string | undefined,
    on: (flag) => values[flag] === true,
  };
}

function refuseUnknownFlags(command: Command, words: readonly string[]): void {
  for (const word of untilEnd(words)) {
    const flag = /^--([^=]+)/.exec(word)?.[1];
    if (flag === undefined || flag in command.flags) continue;
    throw new UsageError(
      `millrace ${command.name} has no option --${flag}${hint(flag, Object.keys(command.flags), '--')} See millrace ${command.name} --help.`,
    );
  }
}

function parseFlags(command: Command, words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { type }]) => [name, { type }] as const),
  );
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`millrace ${command.name}: ${(error as Error).message}`);
  }
}

/** Words after `--` are arguments, whatever they look like. */
const untilEnd = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words;

function hint(word: string, known: readonly string[], prefix = ''): string {
  const found = nearest(word, known);
  return found === undefined ? '.' : `; did you mean ${prefix}${found}?`;
}
