// Which fields of an expanded spec the client did not give: what `explain` marks.

/**
 * JSON pointers into `expanded` of every value that `posted` does not have, in order; a job's one `stage` is stage 0, and the stages of
 * a preset are found by their names.
 */
export function defaultedFields(posted: unknown, expanded: unknown): string[] {
  const given = withStages(posted, expanded);
  return [...leaves(expanded)].map(({ pointer }) => pointer).filter((pointer) => !hasField(given, pointer));
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

const stagesIn = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null && 'stages' in value && Array.isArray(value.stages)
    ? (value.stages as unknown[])
    : [];

const nameOf = (stage: unknown): unknown =>
  typeof stage === 'object' && stage !== null && 'name' in stage ? stage.name : undefined;

function withStages(posted: unknown, expanded: unknown): unknown {
  if (typeof posted !== 'object' || posted === null) return posted;
  if ('stage' in posted) return { ...posted, stages: [posted.stage] };
  if (!('preset' in posted)) return posted;
  const given = stagesIn(posted);
  const inOrder = stagesIn(expanded).map((one) => given.find((stage) => nameOf(stage) === nameOf(one)));
  return { ...posted, stages: inOrder };
}

/** Whether `value` says something at a JSON pointer. */
export function hasField(value: unknown, pointer: string): boolean {
  let at = value;
  for (const key of pointer.split('/').slice(1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return at !== undefined;
}
