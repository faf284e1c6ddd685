// The HTTP API as one app: middleware, routes, one error handler. It keeps nothing that a restart could lose; what it
// works with is passed in, so that the Node entry, a Worker and the tests run the same app.
import type { OpenAPIHono } from '@hono/zod-openapi';
import { createRoute, z } from '@hono/zod-openapi';
import { pino } from 'pino';
import { documentAccess } from './access.ts';
import type { Env, Services } from './context.ts';
import { createHints } from './events/hints.ts';
import { defaultLimits, defaultTiming } from './limits.ts';
import { audit } from './middleware/audit.ts';
import { authenticate } from './middleware/auth.ts';
import { jobInPath } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { measure } from './middleware/measure.ts';
import { methodNotAllowed } from './middleware/methods.ts';
import { limitRequests } from './middleware/rate.ts';
import { requestId } from './middleware/request-id.ts';
import { classify, logError } from './on-error.ts';
import { json, newRouter } from './openapi.ts';
import { ProblemError, problemResponse } from './problem.ts';
import { openApiDocument } from './openapi/document.ts';
import { chatProblemResponse, speaksOpenAi } from './chat/problem.ts';
import { auditRoutes } from './routes/audit.ts';
import { chatRoutes } from './routes/chat.ts';
import { checkpointRoutes } from './routes/checkpoints.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { fineTuningRoutes } from './routes/fine-tuning.ts';
import { graderRoutes } from './routes/graders.ts';
import { healthRoutes } from './routes/health.ts';
import { jobContinuationRoutes } from './routes/job-continuations.ts';
import { jobRoutes } from './routes/jobs.ts';
import { keyRoutes } from './routes/keys.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { modelUploadRoutes } from './routes/model-uploads.ts';
import { projectRoutes } from './routes/projects.ts';
import { removalRoutes } from './routes/removals.ts';
import { resultRoutes } from './routes/results.ts';
import { runnerErrandRoutes } from './routes/runner-errands.ts';
import { runnerProtocolRoutes } from './routes/runner-protocol.ts';
import { runnerRoutes } from './routes/runners.ts';
import { servingRoutes } from './routes/serving.ts';
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export type AppOptions = Pick<Services, 'db' | 'store'> &
  Partial<
    Pick<
      Services,
      | 'addressOf'
      | 'allowPrivateAddresses'
      | 'hints'
      | 'log'
      | 'metrics'
      | 'metricsToken'
      | 'models'
      | 'now'
      | 'stopping'
    >
  > & {
    readonly limits?: Partial<Services['limits']>;
    readonly timing?: Partial<Services['timing']>;
  };

export type App = OpenAPIHono<Env>;

export function createApp(options: AppOptions): App {
  const services: Services = {
    db: options.db,
    store: options.store,
    limits: { ...defaultLimits, ...options.limits },
    timing: { ...defaultTiming, ...options.timing },
    hints: options.hints ?? createHints(),
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    models: options.models ?? {},
    log: options.log ?? pino({ enabled: false }),
    metrics: options.metrics ?? createMetrics(),
    metricsToken: options.metricsToken,
    now: options.now ?? (() => new Date()),
    addressOf: options.addressOf ?? (() => undefined),
    stopping: options.stopping ?? new AbortController().signal,
  };
  const app = newRouter();
  app.use(requestId(services.log), measure(services.metrics));
  app.onError((error, c) => {
    const problem = classify(error);
    services.metrics.problem(problem.code);
    logError(services.log, problem, {
      request: c.get('requestId'),
      method: c.req.method,
      path: c.req.path,
      ...jobInPath(c.req.path),
    });
    return problemAnswer(c.req.path, problem);
  });
  app.use('/v1/*', authenticate(services), limitRequests(services), storableQuery, audit(services));
  addRoutes(app, services);
  addDocument(app);
  app.notFound((c) =>
    problemAnswer(
      c.req.path,
      methodNotAllowed(app, c.req) ?? new ProblemError('not_found', `there is no route ${c.req.path}`),
    ),
  );
  return app;
}

const problemAnswer = (path: string, problem: ProblemError): Response =>
  speaksOpenAi(path) ? chatProblemResponse(problem) : problemResponse(problem);

function addRoutes(app: App, services: Services): void {
  for (const routes of [
    healthRoutes,
    metricsRoutes,
    jobRoutes,
    jobContinuationRoutes,
    eventRoutes,
    resultRoutes,
    checkpointRoutes,
    datasetRoutes,
    runnerRoutes,
    runnerProtocolRoutes,
    runnerErrandRoutes,
    graderRoutes,
    servingRoutes,
    chatRoutes,
    modelUploadRoutes,
    projectRoutes,
    keyRoutes,
    auditRoutes,
    removalRoutes,
    webhookRoutes,
    webhookDeliveryRoutes,
    fileRoutes,
    fineTuningRoutes,
  ])
    app.route('/', routes(services));
  documentAccess(app);
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
}

/** Put together once, when it is first asked for. */
function addDocument(app: App): void {
  let document: ReturnType<typeof openApiDocument> | undefined;
  const route = createRoute({
    method: 'get',
    path: '/openapi.json',
    tags: ['service'],
    responses: { 200: json(z.looseObject({ openapi: z.string() }), 'OpenAPI 3.1') },
  });
  app.openapi(route, (c) => c.json((document ??= openApiDocument(app)) as never, 200));
}

/** Postgres keeps no NUL, so no text of ours has one. */
async function storableQuery(c: { req: { url: string } }, next: () => Promise<void>): Promise<void> {
  if (/%00/i.test(c.req.url)) throw new ProblemError('invalid_query', 'the URL holds a NUL (%00)');
  await next();
}
