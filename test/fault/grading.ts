// Answers graded over HTTP all the while, so that there is a grader to kill: whatever dies meanwhile, an answer is right or is none.
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../api/client.ts';
import type { GradeRequestInput } from '../../api/client/grader-calls.ts';
import type { GradeResult } from '../../api/contract/grade.ts';

const request: GradeRequestInput = {
  grader: { type: 'math' },
  items: ['1/2', '0.5', '2', 'x'].map((answer) => ({
    task: { prompt: '1/3 + 1/6 = ?', answer: '1/2' },
    response: `It is \\boxed{${answer}}`,
  })),
};

export interface Graded {
  readonly answered: number;
  /** Times that the results were not those of the first time. */
  readonly wrong: number;
  /** Why a request was not answered in the end. */
  readonly refused: readonly string[];
}

/** Asks until `stopping` is aborted. */
export async function keepGrading(client: Client, stopping: AbortSignal): Promise<Graded> {
  let expected: readonly GradeResult[] | undefined;
  const refused: string[] = [];
  let [answered, wrong] = [0, 0];
  while (!stopping.aborted) {
    try {
      const results = await gradeOnce(client);
      expected ??= results;
      if (!isDeepStrictEqual(results, expected)) wrong += 1;
      answered += 1;
    } catch (error) {
      refused.push((error as Error).message);
    }
    await delay(500, undefined, { signal: stopping }).catch(() => undefined);
  }
  return { answered, wrong, refused };
}

async function gradeOnce(client: Client): Promise<readonly GradeResult[]> {
  const answer = await client.grade(request, { waitMs: 5_000 });
  if ('results' in answer) return answer.results;
  for (;;) {
    const errand = await client.errand(answer.errand);
    if (errand.results !== null) return errand.results;
    if (errand.state === 'failed') throw new Error(`errand ${errand.id}: ${errand.message}`);
    await delay(200);
  }
}
