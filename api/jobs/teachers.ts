// Teachers from outside a posted job: whether each is there, is whole, is a language model, and reads tokens as the student writes them, so
// far as that can be read from the store. What cannot be read the runner finds out before it trains.
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { Services } from '../context.ts';
import { beginProblem } from '../contract/checkpoint.ts';
import type { TeacherOf } from '../contract/expand.ts';
import { teachingFault } from '../contract/heads.ts';
import type { Issue } from '../contract/issues.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import { modelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { isOutside, teacherKey, teacherReferences } from '../contract/teachers.ts';
import type { TeacherReference } from '../contract/teachers.ts';
import type { OfJob } from './chosen-teacher.ts';
import { chosenTeacher } from './chosen-teacher.ts';
import { ownDirectory } from './own-directory.ts';
import type { ReachedModel } from './reach-model.ts';
import { readConfig } from './read-config.ts';
import { differenceOfTokenizers, tokenizerHeld } from './tokenizer-held.ts';
import type { HeldInStore } from './tokenizer-held.ts';

export interface ReachedTeachers {
  readonly issues: readonly Issue[];
  /** Known ones, by `teacherKey`. */
  readonly sizes: ReadonlyMap<string, ModelSizes>;
  readonly teacherOf: TeacherOf;
}

type Reach = Pick<Services, 'db' | 'store'>;

/** Where a teacher lies, and what it is called. */
interface Found {
  /** The checkpoint that it has turned out to be. */
  readonly checkpoint?: string;
  readonly held?: HeldInStore | undefined;
  readonly pointer: string;
  readonly said: string;
}

/** Reads the store: not for within a transaction. */
export async function reachTeachers(
  reach: Reach,
  projectId: string,
  spec: JobSpec,
  student: ReachedModel,
): Promise<ReachedTeachers> {
  const issues: Issue[] = [];
  const sizes = new Map<string, ModelSizes>();
  const checkpoints = new Map<string, string>();
  for (const reference of teacherReferences(spec)) {
    const key = teacherKey(reference.teacher, reference.domain);
    const found = await find(reach, projectId, reference);
    if ('issue' in found) {
      issues.push(found.issue);
      continue;
    }
    if (found.checkpoint !== undefined) checkpoints.set(key, found.checkpoint);
    const looked = await lookAt(reach, found, reference, student);
    if (looked.sizes !== undefined) sizes.set(key, looked.sizes);
    issues.push(
      ...looked.faults.map((fault) => ({ pointer: found.pointer, message: `${found.said} ${fault}` })),
    );
  }
  const teacherOf: TeacherOf = (teacher, domain) =>
    isOutside(teacher) ? (checkpoints.get(teacherKey(teacher, domain)) ?? teacher) : teacher;
  return { issues, sizes, teacherOf };
}

async function find(
  { db, store }: Reach,
  projectId: string,
  reference: TeacherReference,
): Promise<Found | { readonly issue: Issue }> {
  const { pointer, teacher } = reference;
  if (typeof teacher === 'string') {
    const row = await getCheckpoint(db, projectId, teacher);
    if (row === undefined) return { issue: { pointer, message: `there is no checkpoint ${teacher}` } };
    return whole(row, pointer);
  }
  if ('uri' in teacher) {
    const at = `${pointer}/uri`;
    const { prefix, fault } = await ownDirectory(store, projectId, teacher.uri);
    if (fault !== undefined) return { issue: { pointer: at, message: fault } };
    return { pointer: at, said: teacher.uri, ...(prefix !== undefined && { held: { prefix } }) };
  }
  const chosen = await chosenTeacher(db, projectId, reference as TeacherReference & { teacher: OfJob });
  return 'issue' in chosen ? chosen : whole(chosen.row, `${pointer}/from_job`);
}

type Row = NonNullable<Awaited<ReturnType<typeof getCheckpoint>>>;

function whole(row: Row, pointer: string): Found | { readonly issue: Issue } {
  const said = `checkpoint ${row.id}`;
  const problem = beginProblem(row.files.map(({ name }) => name));
  if (problem !== undefined) return { issue: { pointer, message: `${said} ${problem}` } };
  return { checkpoint: row.id, held: tokenizerHeld(row), pointer, said };
}

/** What is wrong with a teacher as its files say, to follow its name. */
async function lookAt(
  { store }: Reach,
  { held }: Found,
  { maxResponse }: TeacherReference,
  student: ReachedModel,
): Promise<{ readonly faults: string[]; readonly sizes?: ModelSizes }> {
  const config = held === undefined ? undefined : await readConfig(store, held.prefix);
  const parsed = config === undefined ? undefined : modelSizes.safeParse(config);
  if (parsed?.success === false) return { faults: ['names no model of ours in its config.json'] };
  const sizes = parsed?.data;
  const difference =
    held === undefined || student.tokenizer === undefined
      ? undefined
      : await differenceOfTokenizers(store, student.tokenizer, held);
  const faults = [
    sizes && teachingFault(sizes),
    difference === undefined
      ? sizes && vocabularyFault(sizes, student.sizes)
      : `cannot teach the model: its ${difference}. A teacher scores the model's own tokens: take one of the same tokenizer`,
    sizes && positionsFault(sizes, Math.min(maxResponse, student.positions ?? Infinity)),
  ].filter((fault) => fault !== undefined);
  return { faults, ...(sizes && { sizes }) };
}

const vocabularyFault = ({ vocabSize }: ModelSizes, student: ModelSizes | undefined): string | undefined =>
  student === undefined || student.vocabSize === vocabSize
    ? undefined
    : `cannot teach the model: the vocab_size in its config.json is ${vocabSize}, that of the model ${student.vocabSize}. Take a teacher of the same vocabulary`;

const positionsFault = ({ maxPositions }: ModelSizes, maxResponse: number): string | undefined =>
  maxResponse <= maxPositions
    ? undefined
    : `has ${maxPositions} positions, and is to score answers of up to ${maxResponse} tokens: give a smaller max_response`;
