// The client for the service that the user means: by environment, else the one that `serve` wrote down.
import { readFileSync } from 'node:fs';
import type { Client, ClientOptions } from '../api/client.ts';
import { createClient } from '../api/client.ts';
import type { Given } from './command.ts';
import type { DataDir } from './data-dir.ts';
import { chosenDataDir } from './data-dir.ts';
import { UserError } from './user-error.ts';

export interface Connection {
  readonly client: Client;
  readonly options: ClientOptions;
}

/** `interrupt` ends whatever is asked. @throws UserError saying what is not set and where it would be. */
export function connect(given: Given, interrupt: AbortSignal): Connection {
  const dir = chosenDataDir(given);
  // A named data directory is a choice: the environment must not overrule it.
  const env = given.text('data-dir') === undefined ? process.env : {};
  const url = env['MILLRACE_URL'] ?? written(dir.url);
  const key = env['MILLRACE_KEY'] ?? written(dir.adminKey);
  if (url === undefined) throw new UserError(unknownService(dir));
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new UserError(
      `${JSON.stringify(url)} is not the address of a service: MILLRACE_URL looks like http://127.0.0.1:8484`,
    );
  if (key === undefined)
    throw new UserError(
      `no key: set MILLRACE_KEY, or run on the machine of the service (${dir.adminKey} does not exist)`,
    );
  const options = { url, key, signal: interrupt };
  return { client: createClient(options), options };
}

const unknownService = (dir: DataDir): string =>
  `no service is known: start one with millrace serve, set MILLRACE_URL and MILLRACE_KEY, ` +
  `or name its data directory with --data-dir (${dir.url} does not exist)`;

function written(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'EACCES')
      throw new UserError(
        `${path} may not be read by this account: set MILLRACE_KEY, or run as the account that runs the service`,
      );
    throw error;
  }
}
