// From zod's issues to the wire's: one entry for each fault, each with a JSON pointer to its place.
// A union reports the branch that came furthest, since the others only say that it is something else.
import type { z } from 'zod';

export interface Issue {
  /** RFC 6901. */
  readonly pointer: string;
  readonly message: string;
}

type ZodIssue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** RFC 6901. */
export function jsonPointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function issuesOf(error: z.core.$ZodError): Issue[] {
  return error.issues.flatMap((issue) => flatten(issue, []));
}

function flatten(issue: ZodIssue, base: Path): Issue[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ pointer: jsonPointer([...path, key]), message: 'there is no such field' }));
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branch = furthest(issue.errors);
    if (branch !== undefined) return branch.flatMap((inner) => flatten(inner, path));
  }
  return [{ pointer: jsonPointer(path), message: issue.message }];
}

/** The branch whose faults lie deepest; undefined where all fail at the value itself. */
function furthest(branches: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  const depth = (issues: readonly ZodIssue[]): number =>
    Math.min(...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
  const best = branches.reduce((a, b) => (depth(b) > depth(a) ? b : a));
  return depth(best) > 0 ? best : undefined;
}
