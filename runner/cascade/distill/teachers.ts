// The teacher of each domain, as events name it. What `best` means is settled once, when the stage begins, and carried from then on:
// evaluations that come later change nothing. A rollout is scored by the teacher of its domain, which is its source: no
// counter, no draw, so a resumed run routes alike.
import { z } from 'zod';
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { nameOfTeacher } from '../../../api/contract/teacher-places.ts';
import { DataError } from '../../data/error.ts';
import type { Evaluated } from '../point.ts';
import { bestOf } from './best.ts';

export const chosenTeacher = z.strictObject({
  domain: z.string(),
  teacher: z.string(),
  score: z.number().nullable().describe('of best: by which it was chosen'),
});
export type ChosenTeacher = z.infer<typeof chosenTeacher>;

/** One a domain, in their order. Throws DataError where nothing says which is best. */
export const chooseTeachers = (
  { name, domains }: Pick<ExpandedDistillStage, 'name' | 'domains'>,
  evaluations: readonly Evaluated[],
): ChosenTeacher[] =>
  domains.map(({ domain, teacher }) =>
    teacher === 'best'
      ? { domain, ...bestTeacher(name, domain, evaluations) }
      : { domain, teacher: nameOfTeacher(teacher), score: null },
  );

function bestTeacher(
  stage: string,
  domain: string,
  evaluations: readonly Evaluated[],
): Omit<ChosenTeacher, 'domain'> {
  const best = bestOf(domain, evaluations);
  if (best === undefined)
    throw new DataError(
      `stage ${stage}: nothing says which teacher is best in the domain ${domain}: no suite of it could be scored after any stage. Mend what grades them, or name the teacher as stage:NAME`,
    );
  return { teacher: `stage:${best.stage}`, score: best.score };
}
