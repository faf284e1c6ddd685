// The part of the runner protocol for runners that serve a model: register, heartbeat, stop. The URL and the secret of a
// registration are used for nothing but requests to that model by keys of the same project (api/chat/upstream.ts).
import { createRoute } from '@hono/zod-openapi';
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import { endServing, forgetGone, registerServing, touchServing } from '../../db/serving.ts';
import type { Services } from '../context.ts';
import { serveRequest, serveResponse, servingBeat, servingState } from '../contract/serving.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { notFound } from '../problem.ts';
import { sameProtocol } from '../runner/same-protocol.ts';

const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;

function routes(services: Services) {
  const common = { method: 'post' as const, tags: ['runner protocol'], security };
  const middleware = [allow('runner'), jsonBody({ maxBytes: services.limits.jsonBytes })];
  return {
    serve: createRoute({
      ...common,
      path: '/v1/runner/serve',
      description: 'A runner that answers chat completions at `url` for whoever sends it `secret`.',
      middleware: [...middleware, sameProtocol],
      request: jsonRequest(serveRequest),
      responses: {
        200: json(serveResponse, 'The id of the registration, and its pace'),
        ...problemAnswers(...bodyProblems, 'protocol_mismatch', 'not_found'),
      },
    }),
    heartbeat: createRoute({
      ...common,
      path: '/v1/runner/serve/heartbeat',
      middleware,
      request: jsonRequest(servingBeat),
      responses: {
        200: json(servingState, 'It is thought alive for so long'),
        ...problemAnswers(...bodyProblems, 'not_found'),
      },
    }),
    stop: createRoute({
      ...common,
      path: '/v1/runner/serve/stop',
      middleware,
      request: jsonRequest(servingBeat),
      responses: { 200: json(servingState, 'It gets no more requests'), ...problemAnswers(...bodyProblems) },
    }),
  };
}

export function servingRoutes(services: Services) {
  const { db, timing } = services;
  const { leaseMs, heartbeatMs } = timing;
  const { serve, heartbeat, stop } = routes(services);
  return newRouter()
    .openapi(serve, async (c) => {
      const { projectId } = c.get('caller');
      const body = c.req.valid('json');
      // Only what the project owns may be given out under its id.
      if (body.checkpoint !== null && (await getCheckpoint(db, projectId, body.checkpoint)) === undefined)
        throw notFound('checkpoint', body.checkpoint);
      await forgetGone(db);
      const serving = await registerServing(db, projectId, body);
      return c.json({ serving, heartbeat_ms: heartbeatMs, lease_ms: leaseMs }, 200);
    })
    .openapi(heartbeat, async (c) => {
      const { serving } = c.req.valid('json');
      if (!(await touchServing(db, c.get('caller').projectId, serving)))
        throw notFound('serving runner', serving);
      return c.json({ lease_ms: leaseMs }, 200);
    })
    .openapi(stop, async (c) => {
      await endServing(db, c.get('caller').projectId, c.req.valid('json').serving);
      return c.json({ lease_ms: 0 }, 200);
    });
}
