// Which object of the service's own store a URI of a spec means, however it is spelt: as the runner reads it, which drops
// doubled slashes of s3: URIs and follows dots, percent-escapes and links of paths.
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The key without slashes at its ends ('' is the root); undefined where the URI leads elsewhere, or nowhere. */
export async function keyInStore(storeUrl: string, uri: string): Promise<string | undefined> {
  const root = s3Path(storeUrl);
  if (root !== undefined) {
    const path = s3Path(uri);
    if (path === undefined) return undefined;
    return path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
  }
  const path = localPath(uri);
  if (path === undefined) return undefined;
  const key = relative(await real(fileURLToPath(storeUrl)), await real(path));
  return key.split('/')[0] === '..' ? undefined : key;
}

/** `bucket/a/b`. A port does not make it another bucket. */
function s3Path(uri: string): string | undefined {
  const [, host, path] = /^s3:\/\/([^/]+)\/*(.*?)\/*$/.exec(uri) ?? [];
  if (host === undefined || !URL.canParse(`s3://${host}`)) return undefined;
  const bucket = new URL(`s3://${host}`).hostname;
  return path === '' ? bucket : `${bucket}/${path}`;
}

function localPath(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return isAbsolute(uri) ? uri : undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
