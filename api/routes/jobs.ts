// Jobs: post, list, get, cancel, pause, resume.
import { createRoute, z } from '@hono/zod-openapi';
import { listJobs } from '../../db/jobs/get.ts';
import type { Services } from '../context.ts';
import { expandedSpec } from '../contract/expand.ts';
import type { JobDetail } from '../contract/job.ts';
import { job, jobDetail, jobState } from '../contract/job.ts';
import { page, pageQuery } from '../contract/list.ts';
import { jobId } from '../contract/names.ts';
import type { JobSpecInput } from '../contract/spec.ts';
import { jobSpec } from '../contract/spec.ts';
import { idempotencyHeader } from '../idempotency.ts';
import { createJob } from '../jobs/create.ts';
import { theJob } from '../jobs/find.ts';
import * as moves from '../jobs/moves.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { jobDetailView, jobView } from '../views.ts';

const create = (services: Services) =>
  createRoute({
    method: 'post',
    path: '/v1/jobs',
    tags: ['jobs'],
    security,
    description:
      'Takes a spec and queues it. A job that is answered with 201 is never lost. What no registered runner could hold ' +
      'is refused; where the need is known, only runners that have the memory claim the job.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { headers: idempotencyHeader, ...jsonRequest(jobSpec) },
    responses: {
      201: json(jobDetail, 'The job, queued'),
      ...problemAnswers(
        'invalid_json',
        'invalid_spec',
        'insufficient_memory',
        'too_large',
        'unsupported_media_type',
        'idempotency_conflict',
      ),
    },
  });

const listQuery = pageQuery.extend({
  state: jobState.optional(),
  type: expandedSpec.shape.type.optional(),
  label: z
    .string()
    .regex(/^[^:]{1,63}:.{0,255}$/, 'name:value')
    .optional()
    .describe('name:value'),
});

const list = createRoute({
  method: 'get',
  path: '/v1/jobs',
  tags: ['jobs'],
  security,
  description: 'Jobs of the key’s project, newest first.',
  middleware: [allow('read', 'submit')],
  request: { query: listQuery },
  responses: { 200: json(page(job), 'Jobs'), ...problemAnswers('invalid_query') },
});

const get = createRoute({
  method: 'get',
  path: '/v1/jobs/{id}',
  tags: ['jobs'],
  security,
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ id: jobId }) },
  responses: {
    200: json(jobDetail, 'The job with its spec, as posted and expanded'),
    ...problemAnswers('not_found'),
  },
});

const cancel = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/cancel',
  tags: ['jobs'],
  security,
  description:
    'A queued job is cancelled at once, a running one as soon as its runner has stopped; its last checkpoint stays.',
  middleware: [allow('submit')],
  request: { params: z.object({ id: jobId }) },
  responses: {
    200: json(job, 'The job, cancelled or cancelling'),
    ...problemAnswers('not_found', 'conflict'),
  },
});

const pause = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/pause',
  tags: ['jobs'],
  security,
  description:
    'Pauses a queued job at once, a running one after the step at work, with a checkpoint of it; within an evaluation after the ' +
    'suite at work, which is evaluated again when the job is resumed. A job that is pausing or paused already is answered as it is.',
  middleware: [allow('submit')],
  request: { params: z.object({ id: jobId }) },
  responses: {
    200: json(job, 'The job, paused or pausing'),
    ...problemAnswers('not_found', 'conflict'),
  },
});

const resume = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/resume',
  tags: ['jobs'],
  security,
  description:
    'Queues a paused job again: it goes on from its last checkpoint. A job that is queued or running already is answered as it is; ' +
    'one that is still pausing is refused with `still_pausing`.',
  middleware: [allow('submit')],
  request: { params: z.object({ id: jobId }) },
  responses: {
    200: json(job, 'The job, queued'),
    ...problemAnswers('not_found', 'still_pausing', 'conflict'),
  },
});

export function jobRoutes(services: Services) {
  const { db } = services;
  return newRouter()
    .openapi(create(services), async (c) => {
      const { projectId } = c.get('caller');
      const spec = c.req.valid('json');
      const posted = await c.req.text();
      const keyed = {
        projectId,
        key: c.req.valid('header')['idempotency-key'],
        request: ['POST /v1/jobs', posted],
      };
      const answer = await createJob(services, {
        keyed,
        spec,
        asPosted: JSON.parse(posted) as JobSpecInput,
        answer: (_tx, row) => ({ status: 201, body: jobDetailView(row) }),
      });
      const created = answer.body as JobDetail;
      c.header('location', `/v1/jobs/${created.id}`);
      return c.json(created, 201);
    })
    .openapi(list, async (c) => {
      const { limit, after, before, state, type, label } = c.req.valid('query');
      const filter = { type, states: state === undefined ? undefined : [state], labels: labelsOf(label) };
      const rows = await listJobs(db, c.get('caller').projectId, filter, { limit, after, before });
      return c.json(
        pageView(rows, jobView, (row) => row.id),
        200,
      );
    })
    .openapi(get, async (c) =>
      c.json(jobDetailView(await theJob(db, c.get('caller'), c.req.valid('param').id)), 200),
    )
    .openapi(cancel, async (c) =>
      c.json(jobView(await moves.cancel(db, c.get('caller'), c.req.valid('param').id)), 200),
    )
    .openapi(pause, async (c) =>
      c.json(jobView(await moves.pause(db, c.get('caller'), c.req.valid('param').id)), 200),
    )
    .openapi(resume, async (c) =>
      c.json(jobView(await moves.resume(db, c.get('caller'), c.req.valid('param').id)), 200),
    );
}

function labelsOf(label: string | undefined): Record<string, string> | undefined {
  if (label === undefined) return undefined;
  const colon = label.indexOf(':');
  return { [label.slice(0, colon)]: label.slice(colon + 1) };
}
