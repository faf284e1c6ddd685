// Errands in the runner protocol: claim, heartbeat, finish. As for jobs, whatever an attempt writes is fenced in the database.
import { createRoute } from '@hono/zod-openapi';
import { claimErrand } from '../../db/errands/claim.ts';
import { finishErrand } from '../../db/errands/finish.ts';
import { renewErrand } from '../../db/errands/hold.ts';
import type { LeaseLost } from '../../db/queue/fence.ts';
import type { Services } from '../context.ts';
import {
  errandClaimRequest,
  errandClaimResponse,
  errandFinishRequest,
  errandFinishResponse,
  errandHeartbeatRequest,
  errandHeartbeatResponse,
} from '../contract/errand.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { notFound, ProblemError } from '../problem.ts';
import { runnerKey } from '../runner/runner-key.ts';
import { claimedCheckpointView } from '../views.ts';

const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;

function routes(services: Services) {
  const common = {
    method: 'post' as const,
    tags: ['runner protocol'],
    security,
    middleware: [
      allow('runner', 'shared_runner'),
      jsonBody({ maxBytes: services.limits.jsonBytes, foreignText: true }),
    ],
  };
  return {
    claim: createRoute({
      ...common,
      path: '/v1/runner/errands/claim',
      request: jsonRequest(errandClaimRequest),
      responses: {
        200: json(errandClaimResponse, 'An errand under a new lease, or null'),
        ...problemAnswers(...bodyProblems, 'not_found'),
      },
    }),
    heartbeat: createRoute({
      ...common,
      path: '/v1/runner/errands/heartbeat',
      request: jsonRequest(errandHeartbeatRequest),
      responses: {
        200: json(errandHeartbeatResponse, 'The lease is renewed'),
        ...problemAnswers(...bodyProblems, 'lease_lost'),
      },
    }),
    finish: createRoute({
      ...common,
      path: '/v1/runner/errands/finish',
      request: jsonRequest(errandFinishRequest),
      responses: {
        200: json(errandFinishResponse, 'The state of the errand'),
        ...problemAnswers(...bodyProblems, 'lease_lost'),
      },
    }),
  };
}

export function runnerErrandRoutes(services: Services) {
  const { db, timing } = services;
  const { leaseMs } = timing;
  const { claim, heartbeat, finish } = routes(services);
  return newRouter()
    .openapi(claim, async (c) => {
      const { runner, kinds } = c.req.valid('json');
      const claimed = await claimErrand(db, { ...runnerKey(c.get('caller')), runner, kinds, leaseMs });
      if (claimed === 'unknown_runner') throw notFound('runner', runner);
      if (claimed === undefined) return c.json({ claim: null }, 200);
      const { id, attempt, payload, rewardModel } = claimed;
      const reward_model = rewardModel === undefined ? null : claimedCheckpointView(rewardModel);
      return c.json({ claim: { errand: id, attempt, payload, reward_model, lease_ms: leaseMs } }, 200);
    })
    .openapi(heartbeat, async (c) => {
      const body = c.req.valid('json');
      held(await renewErrand(db, { ...runnerKey(c.get('caller')), ...body }, leaseMs), body);
      return c.json({ lease_ms: leaseMs }, 200);
    })
    .openapi(finish, async (c) => {
      const { outcome, ...fence } = c.req.valid('json');
      const ended = held(await finishErrand(db, { ...runnerKey(c.get('caller')), ...fence }, outcome), fence);
      if (ended === 'unfitting')
        throw new ProblemError(
          'invalid_spec',
          `/outcome: ${outcome.type} is none of errand ${fence.errand}, or has not one result for each item in their order`,
        );
      return c.json(ended, 200);
    });
}

function held<T>(result: T | LeaseLost, { errand, attempt }: { errand: string; attempt: number }) {
  if (result === 'lease_lost')
    throw new ProblemError(
      'lease_lost',
      `attempt ${attempt} no longer holds ${errand}: stop it and forget the errand`,
    );
  return result as Exclude<T, LeaseLost>;
}
