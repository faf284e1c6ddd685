// Fine-tuning jobs, in OpenAI's dialect: another way to post and watch jobs, which /v1/jobs lists like any other.
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { listCheckpoints } from '../../db/checkpoints/get.ts';
import { eventsBefore } from '../../db/events/page.ts';
import type { FineTuning } from '../../db/fine-tuning.ts';
import { getFineTuning, listFineTuning } from '../../db/fine-tuning.ts';
import type { Env, Services } from '../context.ts';
import type { FineTuningJob } from '../contract/fine-tuning.ts';
import {
  fineTuningCheckpoints,
  fineTuningCheckpointsQuery,
  fineTuningEvents,
  fineTuningEventsQuery,
  fineTuningJob,
  fineTuningJobs,
  fineTuningListQuery,
  fineTuningRequest,
} from '../contract/fine-tuning.ts';
import { jobId } from '../contract/names.ts';
import { createFineTuning } from '../fine-tuning/create.ts';
import { fineTuningEventView, seqOf } from '../fine-tuning/event-view.ts';
import { metadataFilter } from '../fine-tuning/metadata-filter.ts';
import { metricsByStep } from '../fine-tuning/metrics.ts';
import { fineTuningCheckpointView, fineTuningView } from '../fine-tuning/view.ts';
import { idempotencyHeader } from '../idempotency.ts';
import { cancel, pause, resume } from '../jobs/moves.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { openAiProblems } from '../openai/answers.ts';
import { json, jsonRequest, newRouter, security } from '../openapi.ts';
import { openAiPageOf } from '../pages.ts';
import { notFound } from '../problem.ts';

const path = '/v1/fine_tuning/jobs';
const common = { tags: ['fine-tuning'], security };
const readers = [allow('read', 'submit')];
const params = z.object({ id: jobId });

const create = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path,
    description: 'A supervised method becomes a job of type sft, reinforcement a cascade of one stage.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { headers: idempotencyHeader, ...jsonRequest(fineTuningRequest) },
    responses: {
      200: json(fineTuningJob, 'The job'),
      ...openAiProblems(
        'invalid_json',
        'invalid_spec',
        'invalid_dataset',
        'invalid_header',
        'incomplete_body',
        'insufficient_memory',
        'model_not_found',
        'too_large',
        'unsupported_media_type',
        'conflict',
        'idempotency_conflict',
        'store_unavailable',
      ),
    },
  });

const list = createRoute({
  ...common,
  method: 'get',
  path,
  description: 'Jobs that were posted in this form, the newest first.',
  middleware: readers,
  request: { query: fineTuningListQuery },
  responses: { 200: json(fineTuningJobs, 'Jobs'), ...openAiProblems('invalid_query') },
});

const get = createRoute({
  ...common,
  method: 'get',
  path: `${path}/{id}`,
  middleware: readers,
  request: { params },
  responses: { 200: json(fineTuningJob, 'The job'), ...openAiProblems('not_found') },
});

const moveRoute = <Verb extends 'cancel' | 'pause' | 'resume'>(verb: Verb, description: string) =>
  createRoute({
    ...common,
    method: 'post',
    path: `${path}/{id}/${verb}` as const,
    description,
    middleware: [allow('submit')],
    request: { params },
    responses: {
      200: json(fineTuningJob, 'The job'),
      ...openAiProblems('not_found', 'still_pausing', 'conflict'),
    },
  });

const cancelRoute = moveRoute(
  'cancel',
  'As POST /v1/jobs/{id}/cancel: a running job is `running` until its runner has stopped.',
);
const pauseRoute = moveRoute(
  'pause',
  'As POST /v1/jobs/{id}/pause: a running job is `running` until it has paused.',
);
const resumeRoute = moveRoute('resume', 'As POST /v1/jobs/{id}/resume.');

const events = createRoute({
  ...common,
  method: 'get',
  path: `${path}/{id}/events`,
  description: 'The newest first.',
  middleware: readers,
  request: { params, query: fineTuningEventsQuery },
  responses: { 200: json(fineTuningEvents, 'Events'), ...openAiProblems('not_found', 'invalid_query') },
});

const checkpoints = createRoute({
  ...common,
  method: 'get',
  path: `${path}/{id}/checkpoints`,
  description: 'The newest first.',
  middleware: readers,
  request: { params, query: fineTuningCheckpointsQuery },
  responses: {
    200: json(fineTuningCheckpoints, 'Checkpoints'),
    ...openAiProblems('not_found', 'invalid_query'),
  },
});

export function fineTuningRoutes(services: Services) {
  const { db } = services;
  const theTuning = async (c: Context<Env>, id: string): Promise<FineTuning> => {
    const found = await getFineTuning(db, c.get('caller').projectId, id);
    if (found === undefined) throw notFound('fine-tuning job', id);
    return found;
  };
  const view = (found: FineTuning): FineTuningJob => fineTuningView(found, services.now());
  /** One that was not posted in this form is not moved in it either. */
  const moved = async (c: Context<Env>, id: string, move: typeof cancel): Promise<FineTuningJob> => {
    await theTuning(c, id);
    await move(db, c.get('caller'), id);
    return view(await theTuning(c, id));
  };
  return newRouter()
    .openapi(create(services), async (c) => {
      const key = c.req.valid('header')['idempotency-key'];
      const request = [`POST ${path}`, await c.req.text()];
      const { projectId } = c.get('caller');
      const answer = await createFineTuning(services, c.req.valid('json'), { projectId, key, request });
      return c.json(answer.body as FineTuningJob, 200);
    })
    .openapi(list, async (c) => {
      const { limit, after, ...others } = c.req.valid('query');
      const query = { limit, after, metadata: metadataFilter(others) };
      const { rows, hasMore } = await listFineTuning(db, c.get('caller').projectId, query);
      return c.json(openAiPageOf(rows.map(view), hasMore), 200);
    })
    .openapi(get, async (c) => c.json(view(await theTuning(c, c.req.valid('param').id)), 200))
    .openapi(cancelRoute, async (c) => c.json(await moved(c, c.req.valid('param').id, cancel), 200))
    .openapi(pauseRoute, async (c) => c.json(await moved(c, c.req.valid('param').id, pause), 200))
    .openapi(resumeRoute, async (c) => c.json(await moved(c, c.req.valid('param').id, resume), 200))
    .openapi(events, async (c) => {
      const { job } = await theTuning(c, c.req.valid('param').id);
      const { limit, after } = c.req.valid('query');
      const before = after === undefined ? undefined : (seqOf(job.id, after) ?? 0);
      const rows = await eventsBefore(db, job.id, before, limit + 1);
      return c.json(openAiPageOf(rows.slice(0, limit).map(fineTuningEventView), rows.length > limit), 200);
    })
    .openapi(checkpoints, async (c) => {
      const { job } = await theTuning(c, c.req.valid('param').id);
      const { rows, hasMore } = await listCheckpoints(db, job.projectId, job.id, c.req.valid('query'));
      const steps = rows.map(({ step }) => step);
      const metrics = await metricsByStep(db, job, steps);
      const views = rows.map((row) => fineTuningCheckpointView(row, metrics.get(row.step) ?? {}));
      return c.json(openAiPageOf(views, hasMore), 200);
    });
}
