// Secrets that specs name and runners hold. A value is used and forgotten: it enters no log, no event and no message.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The runner does not have what the spec names: another attempt here would fail alike. */
export class MissingSecret extends Error {
  override readonly name = 'MissingSecret';
}

const variableOf = (name: string): string => `MILLRACE_SECRET_${name.toUpperCase().replaceAll('-', '_')}`;

/** `reference` is "secret:NAME". The variable wins over the file; a line break at the file's end is none of the secret's. @throws MissingSecret. */
export function resolveSecret(reference: string, env: NodeJS.ProcessEnv): string {
  const name = reference.replace(/^secret:/, '');
  const value = env[variableOf(name)] ?? fromFile(name, env['MILLRACE_SECRETS_DIR']);
  if (value !== undefined && value !== '') return value;
  throw new MissingSecret(
    `${reference}: this runner has no such secret: set ${variableOf(name)}, or put it into the file ${name} below MILLRACE_SECRETS_DIR`,
  );
}

function fromFile(name: string, directory: string | undefined): string | undefined {
  // A reference has no path in it by its schema; one that came another way must not leave the folder.
  if (directory === undefined || !/^[a-z0-9][a-z0-9_-]*$/i.test(name)) return undefined;
  try {
    return readFileSync(join(directory, name), 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

/** The text without the secret: what a service answers may quote it. */
export const withoutSecret = (text: string, secret: string | undefined): string =>
  secret === undefined ? text : text.replaceAll(secret, '[secret]');
