// The keys that `serve` writes down for this machine: made in the database by the entry that `millrace keys create`
// starts too, kept in files that only this account can read, and made anew where the database does not know them.
import { execFile } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../user-error.ts';

export const keysEntry = resolve(import.meta.dirname, '../../api/keys.ts');

interface WantedKey {
  readonly url: string;
  readonly databaseUrl: string;
  readonly file: string;
  readonly name: string;
  /** Comma-separated. */
  readonly scopes: string;
}

export async function ensureKey(wanted: WantedKey, signal: AbortSignal): Promise<string> {
  const known = written(wanted.file);
  if (known !== undefined && (await isKnown(wanted, known, signal))) return known;
  const key = await createKey(wanted, signal);
  writeFileSync(`${wanted.file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${wanted.file}.new`, wanted.file);
  return key;
}

async function createKey({ databaseUrl, name, scopes }: WantedKey, signal: AbortSignal): Promise<string> {
  const run = promisify(execFile)(process.execPath, [keysEntry, '--name', name, '--scopes', scopes], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    signal,
  });
  const { stdout } = await run.catch((error: { stderr?: string; message: string }) => {
    signal.throwIfAborted();
    throw new UserError(`no key could be made: ${error.stderr?.trim() || error.message}`);
  });
  return (JSON.parse(stdout) as { key: string }).key;
}

/**
 * A key that the database does not have is unauthorized; one without the scope forbidden: of an operator's that says that it was
 * made before there were operators.
 */
async function isKnown({ url, scopes }: WantedKey, key: string, signal: AbortSignal): Promise<boolean> {
  const { status, body } = await fetch(`${url}/v1/projects?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
    signal,
  });
  await body?.cancel();
  return status !== 401 && (status !== 403 || !scopes.includes('operator'));
}

function written(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
