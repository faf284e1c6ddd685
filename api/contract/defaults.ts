// Which fields of an expanded spec the client did not give: what `explain` marks.

/** JSON pointers into `expanded` of every value that `posted` does not have, in order; a job's one `stage` is stage 0. */
export function defaultedFields(posted: unknown, expanded: unknown): string[] {
  return [...leaves(expanded)]
    .map(({ pointer }) => pointer)
    .filter((pointer) => !has(withStages(posted), pointer));
}

export interface Leaf {
  readonly pointer: string;
  readonly value: unknown;
}

/** Every value that holds no other: numbers, strings, empty lists and objects. Pointers are as in RFC 6901. */
export function* leaves(value: unknown, pointer = ''): Generator<Leaf> {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (inner.length === 0) yield { pointer, value };
  for (const [key, child] of inner)
    if (child !== undefined)
      yield* leaves(child, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

function withStages(posted: unknown): unknown {
  if (typeof posted !== 'object' || posted === null || !('stage' in posted)) return posted;
  return { ...posted, stages: [posted.stage] };
}

function has(value: unknown, pointer: string): boolean {
  let at = value;
  for (const key of pointer.split('/').slice(1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return at !== undefined;
}
