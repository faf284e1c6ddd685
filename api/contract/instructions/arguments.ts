// Which instructions there are, and whether the arguments of a row fit them. An instruction that nobody could check, or whose
// arguments a check would have to guess, is a fault of the row: it must never become a pass.
import type { z } from 'zod';
import { ifbenchArguments } from './ifbench.ts';
import { ifevalArguments } from './ifeval.ts';

/** Instruction id -> the schema of its arguments. */
export const instructionArguments = { ...ifevalArguments, ...ifbenchArguments } as const;
export type InstructionId = keyof typeof instructionArguments;

export const isInstructionId = (id: string): id is InstructionId => Object.hasOwn(instructionArguments, id);

export interface InstructionFault {
  /** From the row: `['kwargs', 2, 'relation']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface InstructionLists {
  readonly instruction_id_list: readonly string[];
  readonly kwargs: readonly Readonly<Record<string, unknown>>[];
}

/** The published files list every argument of the benchmark in every record and mean by null that it is absent. */
export const givenArguments = (kwargs: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(kwargs).filter(([, value]) => value !== null && value !== undefined));

/** Everything that keeps the instructions of a row from being checked; empty where each can be. */
export function instructionFaults({
  instruction_id_list: ids,
  kwargs,
}: InstructionLists): InstructionFault[] {
  if (ids.length !== kwargs.length)
    return [
      {
        path: ['kwargs'],
        message: `there are ${kwargs.length} records for ${ids.length} ids in instruction_id_list: the n-th record belongs to the n-th id`,
      },
    ];
  return ids.flatMap((id, at) =>
    isInstructionId(id)
      ? argumentFaults(id, kwargs[at] ?? {}).map(({ path, message }) => ({
          path: ['kwargs', at, ...path],
          message,
        }))
      : [{ path: ['instruction_id_list', at], message: unknownId(id) }],
  );
}

function argumentFaults(id: InstructionId, kwargs: Readonly<Record<string, unknown>>): InstructionFault[] {
  const schema: z.ZodType = instructionArguments[id];
  const parsed = schema.safeParse(givenArguments(kwargs));
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `${id} takes no ${JSON.stringify(key)}: it takes ${takes(id)}`,
      }));
    const missing = path.length === 1 && !Object.hasOwn(givenArguments(kwargs), String(path[0]));
    const what = missing ? `must be given; the instruction takes ${takes(id)}` : issue.message;
    return [{ path, message: `${id}: ${what}` }];
  });
}

function takes(id: InstructionId): string {
  const names = Object.keys(instructionArguments[id].shape);
  return names.length === 0 ? 'no arguments' : names.join(', ');
}

function unknownId(id: string): string {
  const known = Object.keys(instructionArguments);
  const [nearest] = known
    .map((one) => ({ one, distance: editDistance(id.slice(0, 100), one) }))
    .sort((a, b) => a.distance - b.distance);
  return (
    `there is no instruction ${JSON.stringify(id.slice(0, 100))}` +
    (nearest === undefined
      ? ''
      : `; the nearest of the ${known.length} known is ${JSON.stringify(nearest.one)}`)
  );
}

/** Levenshtein's distance, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
