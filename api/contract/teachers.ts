// Teachers that a posted spec takes from outside its job, with where it names them.
import type { JobSpec } from './spec.ts';
import { isDistilled } from './stage-kinds.ts';
import type { Teacher } from './stages/distill.ts';
import { stagesOf } from './stages-of.ts';

export type OutsideTeacher = Exclude<Teacher, string> | `ckpt_${string}`;

export interface TeacherReference {
  /** JSON pointer into the posted spec. */
  readonly pointer: string;
  readonly domain: string;
  readonly teacher: OutsideTeacher;
  /** Tokens of an answer that it is to score, at most. */
  readonly maxResponse: number;
}

/** Not of the job's own stages. */
export const isOutside = (teacher: Teacher): teacher is OutsideTeacher =>
  typeof teacher !== 'string' || teacher.startsWith('ckpt_');

/** A domain that is not posted has the teacher `best`. */
export const teacherReferences = (spec: JobSpec): TeacherReference[] =>
  stagesOf(spec).flatMap(({ pointer, stage }) =>
    isDistilled(stage)
      ? (stage.domains ?? []).flatMap(({ domain, teacher }, index) => {
          const at = `${pointer}/domains/${index}/teacher`;
          const maxResponse = stage.max_response;
          return isOutside(teacher) ? [{ pointer: at, domain, teacher, maxResponse }] : [];
        })
      : [],
  );

/** The same for the same model: which one `best` of a job is depends on the domain. */
export function teacherKey(teacher: OutsideTeacher, domain: string): string {
  if (typeof teacher === 'string') return teacher;
  if ('uri' in teacher) return teacher.uri;
  return `${teacher.take} of ${teacher.from_job}${teacher.take === 'best' ? `, ${domain}` : ''}`;
}
