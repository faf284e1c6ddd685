// GET /metrics for Prometheus. It tells of every project, so no project's key opens it: the token of
// MILLRACE_METRICS_TOKEN does, and without that nobody is told.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import type { Services } from '../context.ts';
import { gaugeReader } from '../metrics/gauges.ts';
import { newRouter, problemAnswers, security } from '../openapi.ts';
import { ProblemError } from '../problem.ts';

const route = createRoute({
  method: 'get',
  path: '/metrics',
  tags: ['service'],
  security,
  description: 'For Prometheus, with the token of MILLRACE_METRICS_TOKEN as the bearer.',
  responses: {
    200: { description: 'Text format 0.0.4', content: { 'text/plain': { schema: z.string() } } },
    ...problemAnswers(),
  },
});

export function metricsRoutes(services: Services) {
  const gauges = gaugeReader(services);
  return newRouter().openapi(route, async (c) => {
    checkToken(services.metricsToken, c.req.header('authorization'));
    const text = (await gauges()) + services.metrics.text();
    return c.text(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
}

/** @throws ProblemError forbidden where there is no token, unauthorized where it is another. */
function checkToken(token: string | undefined, header: string | undefined): void {
  if (token === undefined)
    throw new ProblemError(
      'forbidden',
      'metrics are told to nobody: set MILLRACE_METRICS_TOKEN on the service',
    );
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? '';
  if (timingSafeEqual(digest(given), digest(token))) return;
  throw new ProblemError(
    'unauthorized',
    'send the header "authorization: Bearer TOKEN", the token of MILLRACE_METRICS_TOKEN',
    {
      headers: { 'www-authenticate': 'Bearer' },
    },
  );
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
