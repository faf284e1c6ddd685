// The manual pages, made from the commands themselves.
import type { Command } from './command.ts';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'millrace: post-training jobs for language models',
    '',
    'usage: millrace COMMAND …        millrace COMMAND --help says more',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'The service is the one that MILLRACE_URL and MILLRACE_KEY name, else the one whose data directory is',
    '--data-dir, $MILLRACE_DATA or .millrace in the current directory.',
    '',
    'Exit codes: 0 done, 1 failed, 2 the command line is not understood, 3 the job was cancelled, 130 interrupted.',
  ].join('\n');
}

export function page(command: Command): string {
  const words = command.arguments.map(({ name }) => ` ${name}`).join('');
  const flags = Object.entries(command.flags).map(
    ([name, { value, help }]) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  const rows = [...command.arguments.map(({ name, help }) => [name, help] as const), ...flags];
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return [
    `usage: millrace ${command.name}${words}${flags.length > 0 ? ' [options]' : ''}`,
    '',
    command.summary,
    ...(command.details === undefined ? [] : ['', command.details]),
    ...(rows.length > 0 ? ['', ...rows.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)] : []),
  ].join('\n');
}
