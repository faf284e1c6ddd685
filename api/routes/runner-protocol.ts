// The runner protocol: register, claim, heartbeat, report, checkpoints, stage ends, finish. Whatever an attempt writes is fenced
// in the database; here its object keys are checked as well, since a runner may name no objects but its own.
import { createRoute } from '@hono/zod-openapi';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { heldStageEnd } from '../../db/checkpoints/stage-ends.ts';
import { claimJob } from '../../db/queue/claim.ts';
import type { Fence, LeaseLost } from '../../db/queue/fence.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { applyReport } from '../../db/reports/apply.ts';
import { registerRunner, touchRunner } from '../../db/runners.ts';
import type { Services } from '../context.ts';
import {
  checkpointRequest,
  checkpointResponse,
  claimRequest,
  claimResponse,
  finishRequest,
  finishResponse,
  heartbeatRequest,
  heartbeatResponse,
  registerRequest,
  registerResponse,
  reportRequest,
  reportResponse,
  stageEndRequest,
  stageEndResponse,
} from '../contract/runner.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { ProblemError, notFound } from '../problem.ts';
import { claimView } from '../runner/claim-view.ts';
import { checkCheckpointKeys, checkReportKeys } from '../runner/object-keys.ts';
import { runnerKey } from '../runner/runner-key.ts';
import { sameProtocol } from '../runner/same-protocol.ts';
import { claimedCheckpointView } from '../views.ts';

const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;
const fencedProblems = problemAnswers(...bodyProblems, 'lease_lost');

function routes(services: Services) {
  const common = { method: 'post' as const, tags: ['runner protocol'], security };
  const middleware = [
    allow('runner', 'shared_runner'),
    jsonBody({ maxBytes: services.limits.jsonBytes, foreignText: true }),
  ];
  return {
    register: createRoute({
      ...common,
      path: '/v1/runner/register',
      middleware: [...middleware, sameProtocol],
      request: jsonRequest(registerRequest),
      responses: {
        200: json(registerResponse, 'The runner’s id and pace'),
        ...problemAnswers(...bodyProblems, 'protocol_mismatch', 'conflict'),
      },
    }),
    claim: createRoute({
      ...common,
      path: '/v1/runner/claim',
      middleware,
      request: jsonRequest(claimRequest),
      responses: {
        200: json(claimResponse, 'A job under a new lease, or null'),
        ...problemAnswers(...bodyProblems, 'not_found'),
      },
    }),
    heartbeat: createRoute({
      ...common,
      path: '/v1/runner/heartbeat',
      middleware,
      request: jsonRequest(heartbeatRequest),
      responses: { 200: json(heartbeatResponse, 'What to do next'), ...fencedProblems },
    }),
    report: createRoute({
      ...common,
      path: '/v1/runner/report',
      middleware,
      request: jsonRequest(reportRequest),
      responses: { 200: json(reportResponse, 'Whether it was new'), ...fencedProblems },
    }),
    checkpoints: createRoute({
      ...common,
      path: '/v1/runner/checkpoints',
      middleware,
      request: jsonRequest(checkpointRequest),
      responses: {
        200: json(checkpointResponse, 'The committed checkpoint'),
        ...problemAnswers(...bodyProblems, 'lease_lost', 'conflict'),
      },
    }),
    stageEnds: createRoute({
      ...common,
      path: '/v1/runner/stage-ends',
      middleware,
      request: jsonRequest(stageEndRequest),
      responses: {
        200: json(stageEndResponse, 'The newest committed end of a stage of the attempt’s own job, or null'),
        ...fencedProblems,
      },
    }),
    finish: createRoute({
      ...common,
      path: '/v1/runner/finish',
      middleware,
      request: jsonRequest(finishRequest),
      responses: { 200: json(finishResponse, 'The state of the job'), ...fencedProblems },
    }),
  };
}

export function runnerProtocolRoutes(services: Services) {
  const { db, metrics, timing } = services;
  const { leaseMs, heartbeatMs } = timing;
  const { register, claim, heartbeat: beat, report, checkpoints, stageEnds, finish } = routes(services);
  return newRouter()
    .openapi(register, async (c) => {
      const body = c.req.valid('json');
      const runner = await registerRunner(db, runnerKey(c.get('caller')), body);
      if (runner === undefined)
        throw new ProblemError(
          'conflict',
          `the name ${body.name} is that of a runner of the other kind (shared, or of one project): register with another`,
        );
      return c.json({ runner, heartbeat_ms: heartbeatMs, lease_ms: leaseMs }, 200);
    })
    .openapi(claim, async (c) => {
      const { runner } = c.req.valid('json');
      const claimed = await claimJob(db, { ...runnerKey(c.get('caller')), runner, leaseMs });
      if (claimed === 'unknown_runner') throw notFound('runner', runner);
      return c.json({ claim: claimed === undefined ? null : claimView(claimed, leaseMs) }, 200);
    })
    .openapi(beat, async (c) => {
      const key = runnerKey(c.get('caller'));
      const body = c.req.valid('json');
      await touchRunner(db, key, body.runner);
      const action = held(await heartbeat(db, { ...key, ...body, leaseMs }), body);
      return c.json({ action, lease_ms: leaseMs }, 200);
    })
    .openapi(report, async (c) => {
      const body = c.req.valid('json');
      checkReportKeys(body);
      const answer = held(await applyReport(db, { ...runnerKey(c.get('caller')), ...body }), body);
      if (answer.applied) metrics.entries(body.entries);
      return c.json(answer, 200);
    })
    .openapi(checkpoints, async (c) => {
      const body = c.req.valid('json');
      checkCheckpointKeys(body);
      const fence = { ...runnerKey(c.get('caller')), ...body };
      const committed = held(await commitCheckpoint(db, fence, body.checkpoint), body);
      if (committed === 'conflict')
        throw new ProblemError(
          'conflict',
          `${body.checkpoint.prefix} was committed before with another manifest`,
        );
      return c.json({ id: committed.id }, 200);
    })
    .openapi(stageEnds, async (c) => {
      const { stage_index, ...fence } = c.req.valid('json');
      const key = runnerKey(c.get('caller'));
      const end = held(await heldStageEnd(db, { ...key, ...fence }, stage_index), fence);
      return c.json({ checkpoint: end === undefined ? null : claimedCheckpointView(end) }, 200);
    })
    .openapi(finish, async (c) => {
      const body = c.req.valid('json');
      const answer = held(await finishAttempt(db, { ...runnerKey(c.get('caller')), ...body }), body);
      metrics.attemptEnded(body.outcome);
      return c.json(answer, 200);
    });
}

function held<T>(
  result: T | LeaseLost,
  { job, attempt }: Pick<Fence, 'job' | 'attempt'>,
): Exclude<T, LeaseLost> {
  if (result === 'lease_lost')
    throw new ProblemError(
      'lease_lost',
      `attempt ${attempt} no longer holds ${job}: stop it and forget the job`,
    );
  return result as Exclude<T, LeaseLost>;
}
