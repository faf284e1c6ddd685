// Where the service's own store keeps what a spec names by its address, however that is written (`s3://bucket//a`,
// `/store/x/../a`, `file:///store/%61`): runners read with credentials of the whole store, so whose it is must be asked here.
import { isAbsolute, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyProblem } from '../../store/keys.ts';

/** The key prefix of that directory, `''` or ending with a slash; undefined where it lies elsewhere. */
export function keyOfAddress(storeUrl: string, uri: string): string | undefined {
  const root = placeOf(storeUrl);
  const place = placeOf(uri);
  if (root === undefined || place === undefined || !`${place}/`.startsWith(`${root}/`)) return undefined;
  const key = `${place.slice(root.length + 1)}/`.replace(/^\/$/, '');
  return keyProblem(`${key}x`) === undefined ? key : undefined;
}

/** One spelling for each place; undefined for what runners do not read. */
function placeOf(address: string): string | undefined {
  // As runners split it: keys are taken literally, slashes around them are not part of one.
  const [, bucket, path] = /^s3:\/\/([^/]+)\/*(.*?)\/*$/.exec(address) ?? [];
  if (bucket !== undefined) return path === '' ? `s3://${bucket}` : `s3://${bucket}/${path}`;
  const local = address.startsWith('file:') ? pathOf(address) : address;
  if (local === undefined || !isAbsolute(local)) return undefined;
  return resolve(local).replaceAll(sep, '/').replace(/\/$/, '');
}

function pathOf(fileUri: string): string | undefined {
  try {
    return fileURLToPath(fileUri);
  } catch {
    return undefined;
  }
}
