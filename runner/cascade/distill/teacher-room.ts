// Whether a teacher has positions for what it is to score. It may have fewer than the policy, for which openDistilledSources looks.
// Asked when the stage begins: the first prompt that is too long might come after hours.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { DataError } from '../../data/error.ts';
import type { Scorer } from '../../engine/learner/scorer.ts';
import type { DistilledSource } from './sources.ts';
import type { ChosenTeacher } from './teachers.ts';

interface Scored {
  readonly stage: Pick<ExpandedDistillStage, 'name' | 'max_response'>;
  readonly sources: readonly Pick<DistilledSource, 'domain' | 'data' | 'prompts'>[];
  readonly teachers: readonly Pick<ChosenTeacher, 'domain' | 'teacher'>[];
}

/** Throws DataError naming a row of a domain of the teacher whose prompt leaves no room for a response. */
export function checkRoom(
  { stage, sources, teachers }: Scored,
  teacher: string,
  { config: { maxPositions } }: { readonly config: Pick<Scorer['config'], 'maxPositions'> },
): void {
  const domains = new Set(teachers.filter((one) => one.teacher === teacher).map(({ domain }) => domain));
  for (const { domain, data, prompts } of sources.filter((source) => domains.has(source.domain)))
    for (const tokens of prompts.values()) {
      const row = tokens.findIndex(({ length }) => length + stage.max_response > maxPositions);
      if (row >= 0)
        throw new DataError(
          `stage ${stage.name}, domain ${domain}, dataset ${data}, row ${row}: ${tokens[row]!.length} prompt tokens and max_response ${stage.max_response} exceed the ${maxPositions} positions of teacher ${teacher}: lower max_response, leave such rows out, or name another teacher`,
        );
    }
}
