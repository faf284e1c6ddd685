// Trying a grader before paying for a run: a handful of answers, graded by a runner as an errand while the caller waits, and the
// errands that took longer.
import { createRoute, z } from '@hono/zod-openapi';
import type { ErrandSummaryRow } from '../../db/errands/get.ts';
import { getErrand } from '../../db/errands/get.ts';
import { insertErrand } from '../../db/errands/insert.ts';
import type { Services } from '../context.ts';
import { errand, pendingErrand } from '../contract/errand.ts';
import { gradeAnswer, gradeRequest } from '../contract/grade.ts';
import type { GradeRequest } from '../contract/grade.ts';
import { wholeNumber } from '../contract/list.ts';
import { errandId } from '../contract/names.ts';
import { rewardModelsIn } from '../contract/expand.ts';
import { addressIssues } from '../jobs/graders.ts';
import { reachRewardModels, rewardModelIssues } from '../jobs/reward-models.ts';
import { awaitErrand } from '../errands/await.ts';
import { lacksRunner } from '../errands/capable.ts';
import { answerOnce, idempotencyHeader } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { inWords, notFound, ProblemError } from '../problem.ts';
import { errandView } from '../views.ts';

const common = { tags: ['graders'], security };

const waitQuery = z.object({
  wait_ms: wholeNumber(0, 30_000).default(20_000).describe('how long the answer may be waited for'),
});

const runRoute = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/graders/run',
    description:
      'Grades 1 to 1,000 responses, in their order, as a stage would: `scored` with a value, `invalid` by the answer’s own ' +
      'fault, `unscored` by ours. Each task is a row of a kind that the grader understands; what is wrong with one is named ' +
      `by its pointer. The body may have ${services.limits.gradeBytes} bytes. A runner does the work: without one that can, the ` +
      'answer is 503 `no_capable_runner`; what takes longer than `wait_ms` is answered with 202 and goes on.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.gradeBytes })],
    request: { query: waitQuery, headers: idempotencyHeader, ...jsonRequest(gradeRequest) },
    responses: {
      200: json(gradeAnswer, 'The results, one for each item'),
      202: {
        ...json(pendingErrand, 'Not done yet: the errand goes on'),
        headers: { location: { schema: { type: 'string' as const }, description: 'of the errand' } },
      },
      ...problemAnswers(
        'invalid_json',
        'invalid_query',
        'invalid_spec',
        'too_large',
        'unsupported_media_type',
        'idempotency_conflict',
        'errand_failed',
        'no_capable_runner',
      ),
    },
  });

const get = createRoute({
  ...common,
  method: 'get',
  path: '/v1/errands/{id}',
  description:
    'An errand and, once it has succeeded, its results. An hour after its end an errand is forgotten.',
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ id: errandId }) },
  responses: { 200: json(errand, 'The errand'), ...problemAnswers('not_found') },
});

export function graderRoutes(services: Services) {
  return newRouter()
    .openapi(runRoute(services), async (c) => {
      const { projectId } = c.get('caller');
      const keyed = {
        projectId,
        key: c.req.valid('header')['idempotency-key'],
        request: ['POST /v1/graders/run', await c.req.text()],
      };
      const id = await postErrand(services, keyed, c.req.valid('json'));
      const { wait_ms } = c.req.valid('query');
      const row = await awaitErrand(services, { projectId, errand: id }, wait_ms, c.req.raw.signal);
      const results = resultsOf(row, id);
      if (results !== undefined) return c.json({ results }, 200);
      c.header('location', `/v1/errands/${id}`);
      return c.json({ errand: id }, 202);
    })
    .openapi(get, async (c) => {
      const { id } = c.req.valid('param');
      const row = await getErrand(services.db, c.get('caller').projectId, id);
      if (row === undefined) throw notFound('errand', id);
      return c.json(errandView(row), 200);
    });
}

/** Id of the new errand, or of the one that the same key has made. @throws ProblemError invalid_spec, no_capable_runner. */
async function postErrand(
  services: Services,
  keyed: Parameters<typeof answerOnce>[1],
  { grader, items }: GradeRequest,
): Promise<string> {
  const { db, timing, allowPrivateAddresses } = services;
  const given = { pointer: '/grader', grader };
  const scoring = rewardModelsIn(given);
  const reached = await reachRewardModels(services, keyed.projectId, scoring);
  const answer = await answerOnce(db, keyed, async (tx) => {
    const issues = addressIssues(given, allowPrivateAddresses);
    for (const one of scoring) issues.push(...(await rewardModelIssues(tx, keyed.projectId, one, reached)));
    if (issues.length > 0) throw new ProblemError('invalid_spec', inWords(issues), { issues });
    const lack = await lacksRunner(tx, keyed.projectId, grader, timing.leaseMs);
    if (lack !== undefined)
      throw new ProblemError('no_capable_runner', lack, { headers: { 'retry-after': '5' } });
    const id = await insertErrand(tx, keyed.projectId, { kind: 'grade', grader, items });
    return { status: 202, body: { errand: id } };
  });
  return (answer.body as z.infer<typeof pendingErrand>).errand;
}

/** Undefined while there are none. @throws ProblemError errand_failed. */
function resultsOf(row: ErrandSummaryRow | undefined, id: string) {
  if (row === undefined)
    throw new ProblemError(
      'errand_failed',
      `errand ${id} of this Idempotency-Key was forgotten, as all are after an hour: take a new key`,
    );
  if (row.state === 'failed') throw new ProblemError('errand_failed', `${row.reason}: ${row.message}`);
  return row.results ?? undefined;
}
