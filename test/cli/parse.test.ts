// What the command line understands, and how it refuses the rest.
import { describe, expect, it } from 'vitest';
import type { Command } from '../../cli/command.ts';
import { exitCodes } from '../../cli/exit-code.ts';
import { overview, page } from '../../cli/help.ts';
import { parse } from '../../cli/parse.ts';
import { UsageError } from '../../cli/user-error.ts';
import { runCli } from './run-cli.ts';

const command = (name: string): Command => ({
  name,
  summary: `does ${name}`,
  arguments: [{ name: 'FILE', help: 'a file' }],
  flags: {
    watch: { type: 'boolean', help: 'follow' },
    to: { type: 'string', value: 'DIR', help: 'where' },
  },
  run: () => Promise.resolve(exitCodes.succeeded),
});
const commands = [command('submit'), command('keys create')];

const refusal = (...words: string[]): string => {
  try {
    parse(words, commands);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error('was understood');
};

describe('parse', () => {
  it('gives arguments and flags, in any order', () => {
    const request = parse(['submit', '--to', 'x', 'spec.json', '--watch'], commands);
    if (request.type !== 'run') throw new Error('not run');
    expect(request.given.argument('FILE')).toBe('spec.json');
    expect(request.given.text('to')).toBe('x');
    expect(request.given.on('watch')).toBe(true);
  });

  it('finds commands of two words', () => {
    expect(parse(['keys', 'create', 'f'], commands)).toMatchObject({
      type: 'run',
      command: { name: 'keys create' },
    });
  });

  it('takes words after -- as arguments', () => {
    const request = parse(['submit', '--', '--help'], commands);
    expect(request.type === 'run' && request.given.argument('FILE')).toBe('--help');
  });

  it.each([
    [['sumbit'], 'there is no command sumbit; did you mean submit?'],
    [['frobnicate'], 'there is no command frobnicate. See'],
    [['keys'], 'keys needs a second word: millrace keys create'],
    [['keys', 'drop'], 'there is no command keys drop: millrace keys create'],
    [['submit', 'f', '--wach'], 'has no option --wach; did you mean --watch?'],
    [['submit', 'f', '-w'], "Unknown option '-w'"],
    [['submit'], 'needs FILE: a file'],
    [['submit', 'a', 'b'], 'does not take b'],
    [['submit', 'f', '--to'], '--to'],
    [['submit', 'f', '--watch=1'], '--watch'],
  ])('refuses %j', (words, message) => {
    expect(refusal(...words)).toContain(message);
  });

  it('answers --help anywhere with the page of the command', () => {
    expect(parse(['submit', 'f', '--help'], commands)).toMatchObject({
      type: 'help',
      command: { name: 'submit' },
    });
    expect(parse([], commands)).toEqual({ type: 'help' });
  });
});

describe('help', () => {
  it('lists every command with its summary, and the exit codes', () => {
    expect(overview(commands)).toContain('keys create  does keys create');
    expect(overview(commands)).toContain('130 interrupted');
  });

  it('shows arguments and options', () => {
    expect(page(command('submit'))).toContain('usage: millrace submit FILE [options]');
    expect(page(command('submit'))).toMatch(/--to DIR +where/);
  });
});

describe('the process', () => {
  it.each([
    'demo',
    'serve',
    'runner',
    'submit',
    'watch',
    'jobs',
    'cancel',
    'pull',
    'keys create',
    'keys list',
    'keys rotate',
    'keys revoke',
  ])('prints the page of %s', async (name) => {
    const { code, stdout } = await runCli([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`usage: millrace ${name}`);
  });

  it('ends with 2 and one line for an unknown command', async () => {
    const { code, stderr } = await runCli(['wacth', 'job']);
    expect(code).toBe(2);
    expect(stderr).toBe('millrace: there is no command wacth; did you mean watch? See millrace --help.\n');
  });
});
