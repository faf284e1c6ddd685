// Grading a handful of answers, and the errands that it may take.
import type { z } from 'zod';
import type { CheckedCall } from '../client.ts';
import { errand, pendingErrand } from '../contract/errand.ts';
import type { gradeRequest } from '../contract/grade.ts';
import { gradeAnswer } from '../contract/grade.ts';

export type GradeRequestInput = z.input<typeof gradeRequest>;

export function graderCalls(call: CheckedCall) {
  return {
    /** The results, or the errand that still works on them. `waitMs`: how long the service holds the answer back. */
    grade: (
      request: GradeRequestInput,
      { waitMs, idempotencyKey = crypto.randomUUID() }: { waitMs?: number; idempotencyKey?: string } = {},
    ) =>
      call(gradeAnswer.or(pendingErrand), {
        method: 'POST',
        path: '/v1/graders/run',
        query: { wait_ms: waitMs },
        json: request,
        headers: { 'idempotency-key': idempotencyKey },
        repeatable: true,
        timeoutMs: 60_000,
      }),
    errand: (id: string) =>
      call(errand, { method: 'GET', path: `/v1/errands/${encodeURIComponent(id)}`, repeatable: true }),
  };
}
