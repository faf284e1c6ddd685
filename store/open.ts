// From a URL and the environment to a store: what the API, the runner and the CLI are configured with.
import { fileURLToPath } from 'node:url';

import { StoreError } from './error.ts';
import { filesystemStore } from './filesystem.ts';
import { keyProblem } from './keys.ts';
import { s3Store, type S3Options } from './s3.ts';
import type { ObjectStore } from './store.ts';

/** Environment variables: S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, … */
export type StoreEnv = Readonly<Record<string, string | undefined>>;

/**
 * Opens `file:///folder` or `s3://bucket/prefix`. Nothing is contacted or created yet.
 * @throws StoreError `invalid`, saying which URL or variable is wrong.
 */
export function openStore(url: string, env: StoreEnv): ObjectStore {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.username || parsed?.password)
    throw refuse(withoutUser(parsed), 'credentials do not belong in the URL; set S3_ACCESS_KEY_ID');
  if (parsed?.search || parsed?.hash) throw refuse(url, 'the URL may not have a query or fragment');
  if (parsed?.protocol === 'file:') return openFile(parsed);
  if (parsed?.protocol === 's3:') return s3Store(s3Options(parsed, env));
  throw refuse(url, 'not a store URL; use file:///absolute/folder or s3://bucket/prefix');
}

function openFile(url: URL): ObjectStore {
  if (url.host !== '') throw refuse(url.href, `"${url.host}" reads as a host; use file:///absolute/folder`);
  return filesystemStore(fileURLToPath(url));
}

function s3Options(url: URL, env: StoreEnv): S3Options {
  const { href, hostname: bucket } = url;
  if (bucket === '') throw refuse(href, 'the bucket is missing; use s3://bucket/prefix');
  // Ignored, it would be a second spelling of the bucket.
  if (url.port !== '') throw refuse(href, 'a bucket has no port; S3_ENDPOINT says where the server is');
  const prefix = decodePath(url);
  const problem = prefix === '' ? undefined : keyProblem(prefix);
  if (problem !== undefined) throw refuse(href, `the prefix is not usable: ${problem}`);
  const endpoint = setting(env, 'S3_ENDPOINT', 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
    throw refuse(href, `S3_ENDPOINT is "${endpoint}", not an http or https URL`);
  const forcePathStyle = flag(href, env, 'S3_FORCE_PATH_STYLE');
  const credentials = credentialsOf(href, env);
  return {
    bucket,
    prefix,
    region: setting(env, 'S3_REGION', 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(forcePathStyle === undefined ? {} : { forcePathStyle }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** The pair of one family only: an S3_ key is never combined with an AWS_ secret. */
function credentialsOf(url: string, env: StoreEnv): S3Options['credentials'] {
  for (const family of ['S3', 'AWS']) {
    const accessKeyId = setting(env, `${family}_ACCESS_KEY_ID`);
    const secretAccessKey = setting(env, `${family}_SECRET_ACCESS_KEY`);
    const sessionToken = setting(env, `${family}_SESSION_TOKEN`);
    if (accessKeyId === undefined && secretAccessKey === undefined) continue;
    if (accessKeyId === undefined || secretAccessKey === undefined)
      throw refuse(url, `set both ${family}_ACCESS_KEY_ID and ${family}_SECRET_ACCESS_KEY`);
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
  return undefined;
}

function setting(env: StoreEnv, ...names: readonly string[]): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
}

function flag(url: string, env: StoreEnv, name: string): boolean | undefined {
  const value = setting(env, name)?.toLowerCase();
  if (value === undefined) return undefined;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw refuse(url, `${name} is "${value}"; use true or false`);
}

function decodePath(url: URL): string {
  const path = url.pathname.replace(/^\//, '').replace(/\/$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    throw refuse(url.href, 'the prefix has a broken percent escape');
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function withoutUser(url: URL): string {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  return copy.href;
}

function refuse(store: string, problem: string): StoreError {
  return new StoreError('invalid', { store, operation: 'open', problem });
}
