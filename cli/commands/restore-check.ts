// millrace restore-check
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-code.ts';
import { runForeground } from '../foreground.ts';
import { UserError } from '../user-error.ts';

export const restoreCheckCommand: Command = {
  name: 'restore-check',
  summary: 'set a restored database right, before the service is started on it',
  details:
    'DATABASE_URL and STORE_URL (with S3_… settings) name what the API uses. Takes jobs from runners that the back-up does\n' +
    'not know of, and names objects that are missing; exits with 1 where there are any. docs/operations.md says more.',
  arguments: [],
  flags: {},
  async run(_given, interrupt) {
    for (const name of ['DATABASE_URL', 'STORE_URL'])
      if (process.env[name] === undefined) throw new UserError(`${name} is not set: name what the API uses`);
    const code = await runForeground('api/restore.ts', [], process.env, interrupt);
    return code === 0 ? exitCodes.succeeded : exitCodes.failed;
  },
};
