// millrace keys create
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-code.ts';
import { runForeground } from '../foreground.ts';
import { UserError } from '../user-error.ts';

export const keysCreateCommand: Command = {
  name: 'keys create',
  summary: 'make an API key or a runner token in the database',
  details: 'DATABASE_URL names the database. The key is printed once, as a line of JSON, and kept nowhere.',
  arguments: [],
  flags: {
    name: { type: 'string', value: 'NAME', help: 'what the key is called (default: admin)' },
    scopes: {
      type: 'string',
      value: 'LIST',
      help: 'comma-separated, of admin, submit, read, runner (default: admin)',
    },
    project: { type: 'string', value: 'NAME', help: 'project that the key sees (default: default)' },
  },
  async run(given, interrupt) {
    if (process.env['DATABASE_URL'] === undefined)
      throw new UserError(
        'DATABASE_URL is not set: name the database that the API uses (serve makes its own keys)',
      );
    const args = ['name', 'scopes', 'project'].flatMap((flag) => {
      const value = given.text(flag);
      return value === undefined ? [] : [`--${flag}`, value];
    });
    const code = await runForeground('api/keys.ts', args, process.env, interrupt);
    return code === 0 ? exitCodes.succeeded : exitCodes.failed;
  },
};
