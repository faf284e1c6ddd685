// The HTTP API as one app: middleware, routes, one error handler. It keeps nothing that a restart could lose; what it
// works with is passed in, so that the Node entry, a Worker and the tests run the same app.
import type { OpenAPIHono } from '@hono/zod-openapi';
import { pino } from 'pino';
import type { Env, Services } from './context.ts';
import { createHints } from './events/hints.ts';
import { defaultLimits, defaultTiming } from './limits.ts';
import { authenticate } from './middleware/auth.ts';
import { jobInPath } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { measure } from './middleware/measure.ts';
import { methodNotAllowed } from './middleware/methods.ts';
import { requestId } from './middleware/request-id.ts';
import { classify, logError } from './on-error.ts';
import { newRouter } from './openapi.ts';
import { ProblemError, problemResponse } from './problem.ts';
import { chatProblemResponse, speaksOpenAi } from './chat/problem.ts';
import { chatRoutes } from './routes/chat.ts';
import { checkpointRoutes } from './routes/checkpoints.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { eventRoutes } from './routes/events.ts';
import { graderRoutes } from './routes/graders.ts';
import { healthRoutes } from './routes/health.ts';
import { jobRoutes } from './routes/jobs.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { modelUploadRoutes } from './routes/model-uploads.ts';
import { resultRoutes } from './routes/results.ts';
import { runnerErrandRoutes } from './routes/runner-errands.ts';
import { runnerProtocolRoutes } from './routes/runner-protocol.ts';
import { runnerRoutes } from './routes/runners.ts';
import { servingRoutes } from './routes/serving.ts';

export type AppOptions = Pick<Services, 'db' | 'store'> &
  Partial<
    Pick<
      Services,
      'allowPrivateAddresses' | 'hints' | 'log' | 'metrics' | 'metricsToken' | 'now' | 'stopping'
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
    log: options.log ?? pino({ enabled: false }),
    metrics: options.metrics ?? createMetrics(),
    metricsToken: options.metricsToken,
    now: options.now ?? (() => new Date()),
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
  app.use('/v1/*', authenticate(services), storableQuery);
  addRoutes(app, services);
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
  ])
    app.route('/', routes(services));
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: '1',
      description:
        'Post-training of language models as jobs. Errors are application/problem+json with a stable `code`.',
    },
  });
}

/** Postgres keeps no NUL, so no text of ours has one. */
async function storableQuery(c: { req: { url: string } }, next: () => Promise<void>): Promise<void> {
  if (/%00/i.test(c.req.url)) throw new ProblemError('invalid_query', 'the URL holds a NUL (%00)');
  await next();
}
