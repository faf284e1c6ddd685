// What a job has to show: metric series, the evaluation matrix, kept rollouts, the log.
import { createRoute, z } from '@hono/zod-openapi';
import { listEvaluations } from '../../db/evaluations/list.ts';
import { readLog } from '../../db/logs/read.ts';
import type { MetricCursor } from '../../db/metrics/page.ts';
import { metricsAfter } from '../../db/metrics/page.ts';
import { listSamples } from '../../db/samples/list.ts';
import type { Services } from '../context.ts';
import { page } from '../contract/list.ts';
import { jobId } from '../contract/names.ts';
import { evaluation, metricPoint, sample } from '../contract/results.ts';
import { stageMode } from '../contract/stages/common.ts';
import { theJob } from '../jobs/find.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageFrom, pageView } from '../pages.ts';
import { notFound } from '../problem.ts';
import { readSamples } from '../samples.ts';
import { evaluationView, metricView } from '../views.ts';

const ofJob = { tags: ['results'], security, middleware: [allow('read', 'submit')] };
const params = z.object({ id: jobId });
const int4 = z.coerce.number().int().min(0).max(2_147_483_647);

const metricsQuery = z.object({
  key: z.string().min(1).max(100).optional(),
  stage: z.string().min(1).max(100).optional(),
  mode: stageMode.optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  after: z
    .string()
    .regex(/^\d{1,15}:(non_thinking|thinking|half_half):.{1,100}$/, 'the last_id of a page')
    .optional(),
});

const metrics = createRoute({
  ...ofJob,
  method: 'get',
  path: '/v1/jobs/{id}/metrics',
  description:
    'Points of series, in the order in which they were reported; of a step that was done again, the last.',
  request: { params, query: metricsQuery },
  responses: { 200: json(page(metricPoint), 'Points'), ...problemAnswers('not_found', 'invalid_query') },
});

const evaluationsQuery = z.object({
  values: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: with the value of every task, in the order of the dataset’s rows'),
});

const evaluations = createRoute({
  ...ofJob,
  method: 'get',
  path: '/v1/jobs/{id}/evaluations',
  description:
    'The stage x suite x mode matrix, all of it, the oldest evaluation first; one that was done again after a resume stands once.',
  request: { params, query: evaluationsQuery },
  responses: { 200: json(page(evaluation), 'Cells'), ...problemAnswers('not_found', 'invalid_query') },
});

const sampleCursor = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const samples = createRoute({
  ...ofJob,
  method: 'get',
  path: '/v1/jobs/{id}/samples',
  description: 'Kept rollouts with prompt, response and reward, newest first.',
  request: {
    params,
    query: z.object({
      stage: z.string().min(1).max(100).optional(),
      step: int4.optional(),
      limit: z.coerce.number().int().min(1).max(200).default(20),
      after: sampleCursor,
      before: sampleCursor,
    }),
  },
  responses: {
    200: json(page(sample), 'Rollouts'),
    ...problemAnswers('not_found', 'invalid_query', 'store_unavailable'),
  },
});

const logs = createRoute({
  ...ofJob,
  method: 'get',
  path: '/v1/jobs/{id}/logs',
  description: 'The last mebibyte of an attempt’s log; of the latest attempt unless one is named.',
  request: { params, query: z.object({ attempt: int4.min(1).optional() }) },
  responses: {
    200: { description: 'The log', content: { 'text/plain': { schema: z.string() } } },
    ...problemAnswers('not_found', 'invalid_query'),
  },
});

export function resultRoutes({ db, store }: Services) {
  return newRouter()
    .openapi(metrics, async (c) => {
      const { id } = await theJob(db, c.get('caller'), c.req.valid('param').id);
      const { limit, after, ...filter } = c.req.valid('query');
      const rows = await metricsAfter(db, id, filter, cursorOf(after), limit + 1);
      return c.json(
        pageFrom(rows, limit, metricView, (row) => `${row.seq}:${row.mode}:${row.key}`),
        200,
      );
    })
    .openapi(evaluations, async (c) => {
      const { id } = await theJob(db, c.get('caller'), c.req.valid('param').id);
      const rows = await listEvaluations(db, id, { values: c.req.valid('query').values === 'true' });
      return c.json(
        pageFrom(rows, rows.length, evaluationView, (row) => String(row.seq)),
        200,
      );
    })
    .openapi(samples, async (c) => {
      const { id } = await theJob(db, c.get('caller'), c.req.valid('param').id);
      const { stage, step, ...query } = c.req.valid('query');
      const { rows, hasMore } = await listSamples(db, id, { stage, step }, query);
      const read = await readSamples(store, rows);
      return c.json(
        pageView(
          { rows: read, hasMore },
          (row) => row,
          (row) => row.id,
        ),
        200,
      );
    })
    .openapi(logs, async (c) => {
      const { id } = await theJob(db, c.get('caller'), c.req.valid('param').id);
      const { attempt } = c.req.valid('query');
      const log = await readLog(db, id, attempt);
      if (log === undefined && attempt !== undefined) throw notFound('attempt', `${id}/${attempt}`);
      c.header('x-attempt', String(log?.attempt ?? 0));
      return c.text(log?.text ?? '', 200);
    });
}

function cursorOf(after: string | undefined): MetricCursor | undefined {
  if (after === undefined) return undefined;
  const [seq, mode, ...key] = after.split(':');
  return { seq: Number(seq), mode: stageMode.parse(mode), key: key.join(':') };
}
