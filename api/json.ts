// JSON that comes from outside: decoded strictly, and searched for what Postgres cannot keep (NUL, lone
// surrogates) or what would overflow a stack further in. The search does not recurse: the depth is the client's.
import type { Issue } from './contract/issues.ts';
import { jsonPointer } from './contract/issues.ts';

const maxDepth = 100;

/** Throws TypeError for bytes that are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(bytes);

const unstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

const message = 'NUL and lone surrogates cannot be stored: remove them';

interface Visit {
  readonly value: object;
  readonly depth: number;
  readonly from?: { readonly visit: Visit; readonly key: string };
}

/** Strings and keys that cannot be stored, at most `limit`; or the one issue that it is nested too deep. */
export function unstorableIssues(root: unknown, limit = 20): Issue[] {
  const issues: Issue[] = [];
  const open: Visit[] = [];
  const look = (value: unknown, depth: number, from?: Visit['from']): void => {
    if (typeof value === 'object' && value !== null) open.push({ value, depth, ...(from && { from }) });
    else if (typeof value === 'string' && unstorable(value))
      issues.push({ pointer: pointerTo(from), message });
  };
  look(root, 0);
  for (let visit = open.pop(); visit !== undefined && issues.length < limit; visit = open.pop()) {
    if (visit.depth >= maxDepth)
      return [{ pointer: '', message: `the JSON is nested deeper than ${maxDepth} levels` }];
    for (const [key, child] of Object.entries(visit.value)) {
      if (unstorable(key)) issues.push({ pointer: pointerTo({ visit, key }), message });
      look(child, visit.depth + 1, { visit, key });
    }
  }
  return issues.slice(0, limit);
}

function pointerTo(from: Visit['from']): string {
  const path: string[] = [];
  for (let at = from; at !== undefined; at = at.visit.from) path.unshift(storable(at.key));
  return jsonPointer(path);
}

const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** Whether a value is nested too deep to be looked at by anything that recurses. */
export const isTooDeep = (issues: readonly Issue[]): boolean =>
  issues.some((issue) => issue.message.startsWith('the JSON is nested'));

/** The same value with U+FFFD for what cannot be stored; for values that unstorableIssues has found not too deep. */
export function replaceUnstorable(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(replaceUnstorable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [storable(key), replaceUnstorable(child)]),
  );
}
