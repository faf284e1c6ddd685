// Talking to checkpoints, in OpenAI's dialect: a request is forwarded to a runner that serves the model, and its answer
// streamed back. Errors have OpenAI's form too (contract/chat-error.ts).
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { ServingRunnerRow } from '../../db/serving/table.ts';
import { findServing, listServing, wasServed } from '../../db/serving.ts';
import { gather, stream } from '../chat/answer.ts';
import type { Upstream } from '../chat/upstream.ts';
import { askRunner } from '../chat/upstream.ts';
import type { Env, Services } from '../context.ts';
import type { ChatRequest } from '../contract/chat.ts';
import { chatChunk, chatCompletion, chatRequest, servedModel, servedModels } from '../contract/chat.ts';
import { checkpointId } from '../contract/names.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { openAiProblems } from '../openai/answers.ts';
import { json, jsonRequest, newRouter, security } from '../openapi.ts';
import { ProblemError } from '../problem.ts';

const common = { tags: ['chat'], security };

const complete = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/chat/completions',
    description:
      '`model` is a checkpoint or a name that a runner serves. Thinking comes apart from the answer, as `reasoning_content`. ' +
      'With `stream` the answer is an event stream of chunks that ends with `data: [DONE]`; a failure in the middle ends it with `data: {"error": …}` instead.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: jsonRequest(chatRequest),
    responses: {
      200: {
        description: 'The answer',
        content: {
          'application/json': { schema: chatCompletion },
          'text/event-stream': { schema: chatChunk },
        },
      },
      ...openAiProblems(
        'invalid_json',
        'invalid_spec',
        'context_length_exceeded',
        'model_not_found',
        'too_large',
        'unsupported_media_type',
        'serving_runner_busy',
        'no_serving_runner',
        'serving_runner_lost',
      ),
    },
  });

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/models',
  description: 'What runners of the project serve now.',
  middleware: [allow('read', 'submit')],
  responses: { 200: json(servedModels, 'Models'), ...openAiProblems() },
});

const retrieve = createRoute({
  ...common,
  method: 'get',
  path: '/v1/models/{model}',
  description: 'One of them, by checkpoint id or by the name given with --as.',
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ model: z.string() }) },
  responses: {
    200: json(servedModel, 'The model'),
    ...openAiProblems('model_not_found', 'no_serving_runner'),
  },
});

export function chatRoutes(services: Services) {
  return newRouter()
    .openapi(complete(services), async (c) => {
      const request = c.req.valid('json');
      const stopping = new AbortController();
      const signal = AbortSignal.any([stopping.signal, c.req.raw.signal, services.stopping]);
      const { chunks } = await forward(services, c, request, signal);
      if (request.stream !== true) return c.json(await gather(chunks), 200);
      return stream(chunks, {
        withUsage: request.stream_options?.include_usage === true,
        keepAliveMs: services.timing.keepAliveMs,
        stopped: () => stopping.abort(),
      }) as never;
    })
    .openapi(list, async (c) => {
      const rows = await listServing(services.db, c.get('caller').projectId, services.timing.leaseMs);
      return c.json({ object: 'list' as const, data: modelsOf(rows) }, 200);
    })
    .openapi(retrieve, async (c) => {
      const { projectId } = c.get('caller');
      const { model } = c.req.valid('param');
      const rows = await listServing(services.db, projectId, services.timing.leaseMs);
      const found = modelsOf(rows).find(({ id }) => id === model);
      if (found === undefined) throw await nobodyServes(services, projectId, model);
      return c.json(found, 200);
    });
}

/** The first runner that takes the request. @throws ProblemError. */
async function forward(
  services: Services,
  c: Context<Env>,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<Upstream> {
  const { projectId } = c.get('caller');
  const { leaseMs, servingSilenceMs } = services.timing;
  let busy: ProblemError | undefined;
  for (const serving of await findServing(services.db, projectId, request.model, leaseMs)) {
    try {
      const upstream = await askRunner(serving, request, signal, servingSilenceMs);
      if (upstream !== undefined) return upstream;
      services.log.warn({ serving: serving.id, model: request.model }, 'a serving runner did not answer');
    } catch (error) {
      if (!(error instanceof ProblemError && error.code === 'serving_runner_busy')) throw error;
      busy = error;
    }
  }
  throw busy ?? (await nobodyServes(services, projectId, request.model));
}

async function nobodyServes({ db }: Services, projectId: string, model: string): Promise<ProblemError> {
  const named = JSON.stringify(model);
  const isCheckpoint = checkpointId.safeParse(model).success;
  const known =
    (isCheckpoint && (await getCheckpoint(db, projectId, model)) !== undefined) ||
    (await wasServed(db, projectId, model));
  if (known)
    return new ProblemError(
      'no_serving_runner',
      `no runner serves ${named} now: start one with millrace runner --serve ${model}`,
      { headers: { 'retry-after': '5' } },
    );
  return new ProblemError(
    'model_not_found',
    `there is no model ${named} that this key can see: GET /v1/models lists what is served`,
    { issues: [{ pointer: '/model', message: 'names nothing' }] },
  );
}

/** Each name once, with the time of its newest runner. */
function modelsOf(rows: readonly ServingRunnerRow[]) {
  const created = new Map<string, number>();
  for (const { checkpointId: id, model, registeredAt } of rows)
    for (const name of [id, model])
      if (name !== null && !created.has(name)) created.set(name, Math.floor(registeredAt.getTime() / 1_000));
  return [...created].map(([id, at]) => ({
    id,
    object: 'model' as const,
    created: at,
    owned_by: 'millrace' as const,
  }));
}
