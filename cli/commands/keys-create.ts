// millrace keys create
import type { KeyWithSecret } from '../../api/contract/keys.ts';
import { scopeList, scopes } from '../../api/contract/keys.ts';
import type { Command, Given } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import type { ExitCode } from '../exit-code.ts';
import { exitCodes } from '../exit-code.ts';
import { runForeground } from '../foreground.ts';
import { UsageError } from '../user-error.ts';

export const keysCreateCommand: Command = {
  name: 'keys create',
  summary: 'make an API key or a runner token',
  details:
    'Asks the service, where the admin key or MILLRACE_KEY must be an admin’s; for the first key of a service there is none: then\n' +
    'DATABASE_URL, without MILLRACE_KEY and --data-dir, names the database in which it is made. The key is printed once, as a line\n' +
    'of JSON, and kept nowhere.',
  arguments: [],
  flags: {
    ...dataDirFlag,
    name: { type: 'string', value: 'NAME', help: 'what the key is called (default: admin)' },
    scopes: {
      type: 'string',
      value: 'LIST',
      help: `comma-separated, of ${scopes.join(', ')} (default: admin)`,
    },
    project: {
      type: 'string',
      value: 'NAME',
      help: 'project that the key sees (default: default, or yours)',
    },
    'expires-in': {
      type: 'string',
      value: 'TIME',
      help: 'when it ends, such as 24h or 90d (default: never)',
    },
  },
  run: (given, interrupt) =>
    isForDatabase(given) ? throughDatabase(given, interrupt) : throughService(given, interrupt),
};

const isForDatabase = (given: Given): boolean =>
  process.env['DATABASE_URL'] !== undefined &&
  process.env['MILLRACE_KEY'] === undefined &&
  given.text('data-dir') === undefined;

async function throughDatabase(given: Given, interrupt: AbortSignal): Promise<ExitCode> {
  const args = ['name', 'scopes', 'project', 'expires-in'].flatMap((flag) => {
    const value = given.text(flag);
    return value === undefined ? [] : [`--${flag}`, value];
  });
  const code = await runForeground('api/keys.ts', args, process.env, interrupt);
  return code === 0 ? exitCodes.succeeded : exitCodes.failed;
}

async function throughService(given: Given, interrupt: AbortSignal): Promise<ExitCode> {
  const wanted = scopeList.safeParse((given.text('scopes') ?? 'admin').split(','));
  if (!wanted.success)
    throw new UsageError(`--scopes ${given.text('scopes')}: comma-separated, of ${scopes.join(', ')}`);
  const [project, expires_in] = [given.text('project'), given.text('expires-in')];
  const made = await connect(given, interrupt).client.createKey({
    name: given.text('name') ?? 'admin',
    scopes: wanted.data,
    ...(project !== undefined && { project }),
    ...(expires_in !== undefined && { expires_in }),
  });
  console.log(keyLine(made));
  return exitCodes.succeeded;
}

/** One line for programs to read: `key` is the secret, as the entry prints it that works on the database. */
export const keyLine = ({ id, secret, project, name, scopes: has, expires_at }: KeyWithSecret): string =>
  JSON.stringify({ id, key: secret, project, name, scopes: has, expires_at });
