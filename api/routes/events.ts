// A job's events: as a page, oldest first, or as a stream that goes on until the job has ended.
import { createRoute, z } from '@hono/zod-openapi';
import { eventsAfter } from '../../db/events/page.ts';
import type { Services } from '../context.ts';
import { jobEvent } from '../contract/event.ts';
import { isTerminal } from '../contract/job.ts';
import { page, sequenceQuery } from '../contract/list.ts';
import { jobId } from '../contract/names.ts';
import { eventStream, followEvents } from '../events/follow.ts';
import { theJob } from '../jobs/find.ts';
import { allow } from '../middleware/auth.ts';
import { newRouter, problemAnswers, security } from '../openapi.ts';
import { pageFrom } from '../pages.ts';
import { ProblemError } from '../problem.ts';
import { eventView } from '../views.ts';

/** Events of one look at the table while a job is followed. */
const followBatch = 500;

const route = createRoute({
  method: 'get',
  path: '/v1/jobs/{id}/events',
  tags: ['jobs'],
  security,
  description:
    'A page by default. With `accept: text/event-stream` a stream of the events after `Last-Event-ID` (or `after`), live until the job’s last event; 204 when that has been read already.',
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ id: jobId }), query: sequenceQuery },
  responses: {
    200: {
      description: 'Events, oldest first',
      content: {
        'application/json': { schema: page(jobEvent) },
        'text/event-stream': { schema: z.string() },
      },
    },
    204: { description: 'Stream: the job has ended, and there is no event after the given one' },
    ...problemAnswers('not_found', 'invalid_query', 'invalid_header'),
  },
});

export const eventRoutes = (services: Services) =>
  newRouter().openapi(route, async (c) => {
    const { id } = c.req.valid('param');
    const query = c.req.valid('query');
    const job = await theJob(services.db, c.get('caller'), id);
    if (!wantsStream(c.req.header('accept'))) {
      const rows = await eventsAfter(services.db, id, query.after, query.limit + 1);
      return c.json(
        pageFrom(rows, query.limit, eventView, (row) => String(row.seq)),
        200,
      );
    }
    const after = lastEventId(c.req.header('last-event-id')) ?? query.after;
    if (isTerminal(job.state) && job.eventSeq <= after) return c.body(null, 204);
    return streamOf(services, id, after, c.req.raw.signal);
  });

function streamOf(services: Services, job: string, after: number, request: AbortSignal): Response {
  const abort = new AbortController();
  const closed = services.metrics.streamOpened();
  const chunks = followEvents({
    job,
    after,
    read: async (last) => (await eventsAfter(services.db, job, last, followBatch)).map(eventView),
    hints: services.hints,
    pollMs: services.timing.pollMs,
    keepAliveMs: services.timing.keepAliveMs,
    signal: AbortSignal.any([
      abort.signal,
      request,
      services.stopping,
      AbortSignal.timeout(services.timing.streamMs),
    ]),
  });
  return new Response(eventStream(chunks, abort, closed), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  });
}

const wantsStream = (accept: string | undefined): boolean =>
  accept?.toLowerCase().includes('text/event-stream') ?? false;

function lastEventId(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (/^\d{1,15}$/.test(header)) return Number(header);
  throw new ProblemError(
    'invalid_header',
    `last-event-id ${JSON.stringify(header.slice(0, 50))} is no sequence number of an event`,
  );
}
