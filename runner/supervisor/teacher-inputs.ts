// Teachers from outside an attempt's job. They are fetched before the first step, whichever stage they belong to: one that is away ends
// the attempt before it has cost anything.
import { join } from 'node:path';
import { beginProblem } from '../../api/contract/checkpoint.ts';
import { teachersOf } from '../../api/contract/expand.ts';
import type { Claim } from '../../api/contract/runner.ts';
import { placesOfTeacher } from '../../api/contract/teacher-places.ts';
import type { Inputs, Transfer } from '../ipc.ts';
import { modelDirectory } from './model-directory.ts';
import { TransferFailed } from './uploader-process.ts';

export interface TeacherTransfer {
  /** Who wants it, in words: the transfer's own are of files. */
  readonly whose: string;
  readonly transfer: Transfer;
}

interface TeacherPlan {
  readonly inputs: Pick<Inputs, 'teachers'>;
  readonly transfers: readonly TeacherTransfer[];
}

/** Each to a folder of its own in `dir`. Throws TransferFailed where there can be none. */
export function planTeachers(claim: Claim, dir: string, roots: readonly string[]): TeacherPlan {
  const { checkpoints, uris } = teachersOf(claim.spec);
  const planned = [...checkpoints, ...uris].map((teacher, index) => {
    const whose = `teacher of ${placesOfTeacher(claim.spec, teacher)}`;
    const to = join(dir, String(index));
    const find = (): ReturnType<typeof modelDirectory> =>
      index < checkpoints.length
        ? { path: to, transfers: [ofCheckpoint(claim, teacher, to)] }
        : modelDirectory(teacher, to, roots);
    const { path, transfers } = inWordsOf(whose, find);
    return { teacher, path, transfers: transfers.map((transfer) => ({ whose, transfer })) };
  });
  return {
    inputs:
      planned.length === 0
        ? {}
        : { teachers: Object.fromEntries(planned.map(({ teacher, path }) => [teacher, path])) },
    transfers: planned.flatMap(({ transfers }) => transfers),
  };
}

function ofCheckpoint({ teachers }: Claim, id: string, dir: string): Transfer {
  const checkpoint = teachers.find((one) => one.id === id);
  if (checkpoint === undefined)
    throw new TransferFailed('fetch_model', 'missing', `${id}: there is no such checkpoint any more`);
  const problem = beginProblem(checkpoint.files.map(({ name }) => name));
  if (problem !== undefined) throw new TransferFailed('fetch_model', 'missing', `${id} ${problem}`);
  return { kind: 'fetch_checkpoint', checkpoint, dir, part: 'model' };
}

function inWordsOf<T>(whose: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw namedFailure(whose, error);
  }
}

/** The same failure, said of `whose`. */
export const namedFailure = (whose: string, error: unknown): unknown =>
  error instanceof TransferFailed
    ? new TransferFailed(error.kind, error.code, `${whose}: ${error.message}`)
    : error;
