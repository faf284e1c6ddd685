// From zod's issues to the wire's: one entry for each fault, each with a JSON pointer to its place.
// A union reports the branch that came furthest, since the others only say that it is something else; where none
// came further than another, it says at its own place what each wants, and which types those are where the value has none of them.
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
    return issue.keys.map((key) => ({
      pointer: jsonPointer([...path, key]),
      message: 'there is no such field',
    }));
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branches = furthest(issue.errors);
    const [branch] = branches;
    if (branches.length === 1 && branch !== undefined) return branch.flatMap((inner) => flatten(inner, path));
    if (branches.length > 1) return [{ pointer: jsonPointer(path), message: noneOf(branches) }];
    const message = noType(issue.errors);
    if (message !== undefined) return [{ pointer: jsonPointer(path), message }];
  }
  return [{ pointer: jsonPointer(path), message: messageOf(issue) }];
}

/** zod says that a field that is not there was "received undefined", and calls what tells forms apart a discriminator. */
const messageOf = ({ message }: Pick<ZodIssue, 'message'>): string =>
  message
    .replace(/^Invalid input: expected (.+), received undefined$/, 'must be given: expected $1')
    .replace(/^Invalid discriminator value\. Expected /, 'must be one of ');

type Branch = readonly ZodIssue[];

/** The branches with the fewest faults of those whose faults lie deepest; none where all fail at the value itself. */
function furthest(branches: readonly Branch[]): Branch[] {
  const depth = (branch: Branch): number =>
    Math.min(...branch.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
  const deepest = Math.max(...branches.map(depth));
  const deep = deepest === 0 ? [] : branches.filter((branch) => depth(branch) === deepest);
  const fewest = Math.min(...deep.map((branch) => branch.length));
  return deep.filter((branch) => branch.length === fewest);
}

/** What is wanted where the value is of no branch's type; undefined where a branch has another fault. */
function noType(branches: readonly Branch[]): string | undefined {
  const issues = branches.flat();
  if (issues.some(({ code, path }) => code !== 'invalid_type' || path.length > 0)) return undefined;
  const received = issues[0]?.message.match(/, (received .+)$/)?.[1];
  if (received === undefined) return undefined;
  const wanted = issues.flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  return messageOf({ message: `Invalid input: expected ${[...new Set(wanted)].join(' or ')}, ${received}` });
}

/** What each branch finds wrong, for a value that is as far from one as from another. */
function noneOf(branches: readonly Branch[]): string {
  const faults = branches.map((branch) =>
    branch
      .flatMap((issue) => flatten(issue, []))
      .map(({ pointer, message }) => `${pointer} ${message}`)
      .join(', '),
  );
  return `fits none of its forms: ${faults.join('; or ')}`;
}
