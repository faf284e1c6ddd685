// New jobs from old ones: retry, from the last checkpoint with the same spec; fork, from the end of a stage with what is to follow.
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, forkRequest, jobDetail } from '../contract/job.ts';
import type { ForkRequest, JobDetail } from '../contract/job.ts';
import { datasetsOf } from '../contract/expand.ts';
import { jobId } from '../contract/names.ts';
import type { Database } from '../../db/connect.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Env, Services } from '../context.ts';
import { answerOnce, idempotencyHeader } from '../idempotency.ts';
import { checkCheckpoint, checkDatasets, insertAgain } from '../jobs/again.ts';
import { theJob } from '../jobs/find.ts';
import { endOf, forkedSpec, gatesPassed, overWhatWasRun, stageIndexOf } from '../jobs/fork.ts';
import { insertPosted, reach } from '../jobs/post.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { ProblemError } from '../problem.ts';
import { jobDetailView } from '../views.ts';

const common = { method: 'post' as const, tags: ['jobs'], security };
const ofJob = { params: z.object({ id: jobId }), headers: idempotencyHeader };

const retry = createRoute({
  ...common,
  path: '/v1/jobs/{id}/retry',
  description:
    'A new job with the spec of one that has ended, from its last committed checkpoint, as a resume would go on. The old one stays ' +
    'as it is.',
  middleware: [allow('submit')],
  request: ofJob,
  responses: {
    201: json(jobDetail, 'The new job, queued'),
    ...problemAnswers('not_found', 'conflict', 'idempotency_conflict'),
  },
});

const fork = (services: Services) =>
  createRoute({
    ...common,
    path: '/v1/jobs/{id}/fork',
    description:
      'A new job that begins where a stage of this one ended, whatever its state, with the stages that follow or with others. What was ' +
      'run up to there is kept; the evaluation after that stage is made again.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { ...ofJob, ...jsonRequest(forkRequest) },
    responses: {
      201: json(jobDetail, 'The new job, queued'),
      ...problemAnswers(
        'invalid_json',
        'invalid_spec',
        'insufficient_memory',
        'too_large',
        'unsupported_media_type',
        'not_found',
        'conflict',
        'idempotency_conflict',
      ),
    },
  });

export function jobContinuationRoutes(services: Services) {
  const { db } = services;
  return newRouter()
    .openapi(retry, async (c) => {
      const { id } = c.req.valid('param');
      const old = await theJob(db, c.get('caller'), id);
      if (!isTerminal(old.state))
        throw new ProblemError('conflict', `job ${id} has not ended: its state is ${old.state}`);
      const key = c.req.valid('header')['idempotency-key'];
      const answer = await createdOnce(db, old, { key, request: [`POST /v1/jobs/${id}/retry`] }, (tx) =>
        insertAgain(tx, old, {
          retryOf: id,
          checkpoint: old.lastCheckpointId,
          passedGates: old.passedGates,
        }),
      );
      return created(c, answer);
    })
    .openapi(fork(services), async (c) => {
      const { id } = c.req.valid('param');
      const old = await theJob(db, c.get('caller'), id);
      const body = c.req.valid('json');
      const insert = await forking(services, old, body);
      const key = c.req.valid('header')['idempotency-key'];
      const request = [`POST /v1/jobs/${id}/fork`, await c.req.text()];
      return created(c, await createdOnce(db, old, { key, request }, insert));
    });
}

/** What makes the fork, once the transaction is open. */
async function forking(
  services: Services,
  old: JobRow,
  body: ForkRequest,
): Promise<(tx: Database) => Promise<JobRow>> {
  const index = stageIndexOf(old, body.stage);
  const beginning = async (tx: Database) => {
    const { id } = await endOf(tx, old, index);
    await checkCheckpoint(tx, old, id);
    return { forkOf: old.id, checkpoint: id };
  };
  if (body.stages === undefined && body.spec === undefined) {
    overWhatWasRun(old, index, old.expanded);
    return async (tx) =>
      insertAgain(tx, old, { ...(await beginning(tx)), passedGates: gatesPassed(old, index) });
  }
  const asked = { projectId: old.projectId, ...forkedSpec(old, index, body) };
  const reached = await reach(services, asked);
  return async (tx) => {
    const stages = old.expanded.stages.slice(0, index + 1);
    await checkDatasets(tx, old, datasetsOf({ stages, evaluate: { ...old.expanded.evaluate, suites: [] } }));
    return insertPosted(tx, services, asked, reached, {
      begins: { ...(await beginning(tx)), passedGates: [] },
      over: (expanded) => overWhatWasRun(old, index, expanded),
    });
  };
}

async function createdOnce(
  db: Database,
  { projectId }: JobRow,
  keyed: { key: string | undefined; request: readonly string[] },
  insert: (tx: Database) => Promise<JobRow>,
): Promise<JobDetail> {
  const answer = await answerOnce(db, { projectId, ...keyed }, async (tx) => ({
    status: 201,
    body: jobDetailView(await insert(tx)),
  }));
  return answer.body as JobDetail;
}

function created(c: Context<Env>, job: JobDetail) {
  c.header('location', `/v1/jobs/${job.id}`);
  return c.json(job, 201);
}
