// Where a spec names a teacher that comes from outside the job, in words.
import type { ExpandedSpec, ExpandedTeacher } from './expand.ts';
import { isDistilled } from './stage-kinds.ts';

/** As a runner asks for it: a checkpoint's id, or a URI. */
export const nameOfTeacher = (teacher: ExpandedTeacher): string =>
  typeof teacher === 'string' ? teacher : teacher.uri;

/** "stage distill, domain math", for every domain that it teaches. */
export const placesOfTeacher = ({ stages }: Pick<ExpandedSpec, 'stages'>, teacher: string): string =>
  stages
    .filter(isDistilled)
    .flatMap(({ name, domains }) =>
      domains
        .filter((one) => nameOfTeacher(one.teacher) === teacher)
        .map(({ domain }) => `stage ${name}, domain ${domain}`),
    )
    .join('; ');
