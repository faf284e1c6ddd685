// Which fields of an expanded spec the client did not give: what `explain` marks.

/**
 * JSON pointers into `expanded` of every value that `posted` does not have, in order; a job's one `stage` is stage 0, the stages of a
 * cascade are found by their names, and those that repair in the gates that ask for them.
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

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;

const nameOf = (stage: unknown): unknown => field(stage, 'name') ?? field(stage, 'kind');

function withStages(posted: unknown, expanded: unknown): unknown {
  if (typeof posted !== 'object' || posted === null) return posted;
  if ('stage' in posted) return { ...posted, stages: [posted.stage] };
  if (!('stages' in posted)) return posted;
  const given = stagesIn(posted);
  const inOrder = stagesIn(expanded).map((one) => {
    const repairs = field(one, 'repairs');
    if (repairs === undefined) return given.find((stage) => nameOf(stage) === nameOf(one));
    // That there is such a stage the gate says.
    return { kind: field(one, 'kind'), repairs, ...repairGiven(posted, repairs) };
  });
  return { ...posted, stages: inOrder };
}

function repairGiven(posted: object, after: unknown): object {
  const gates = field(posted, 'gates');
  const repairs = Array.isArray(gates)
    ? gates.filter((gate) => field(gate, 'after') === after).map((gate) => field(gate, 'repair'))
    : [];
  return (repairs.find((one) => typeof one === 'object' && one !== null) as object | undefined) ?? {};
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
