// A job's events: as a page, oldest first, or as a stream that goes on until the job has ended.
import { createRoute, z } from '@hono/zod-openapi';
import type { Database } from '../../db/connect.ts';
import { eventsAfter } from '../../db/events/page.ts';
import { isKeyValid } from '../../db/keys/list.ts';
import type { Services } from '../context.ts';
import { jobEvent } from '../contract/event.ts';
import { isTerminal } from '../contract/job.ts';
import { page, sequenceQuery } from '../contract/list.ts';
import { jobId } from '../contract/names.ts';
import { eventStream, followEvents } from '../events/follow.ts';
import { theJob } from '../jobs/find.ts';
import { createStreams } from '../limits/streams.ts';
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

export function eventRoutes(services: Services) {
  const streams = createStreams(services.limits.streamsPerKey);
  return newRouter().openapi(route, async (c) => {
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
    const { id: key } = c.get('caller');
    return streamOf(services, { job: id, after, key, close: streams.open(key) }, c.req.raw.signal);
  });
}

interface Opened {
  readonly job: string;
  readonly after: number;
  readonly key: string;
  readonly close: () => void;
}

function streamOf(
  { db, hints, timing, stopping, metrics }: Services,
  { job, after, key, close }: Opened,
  request: AbortSignal,
): Response {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, request, stopping, AbortSignal.timeout(timing.streamMs)]);
  // Whichever comes first: the reader leaves before the first event, or the last one has been sent.
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  const { pollMs, keepAliveMs } = timing;
  const isOpen = keyWatch(db, key, keepAliveMs);
  const read = async (last: number) => {
    if (!(await isOpen())) abort.abort();
    return abort.signal.aborted ? [] : (await eventsAfter(db, job, last, followBatch)).map(eventView);
  };
  const chunks = closing(followEvents({ job, after, read, hints, pollMs, keepAliveMs, signal }), close);
  return new Response(eventStream(chunks, abort, metrics.streamOpened()), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  });
}

/** Whether the key is valid still, asked of the database every so often: a stream must not outlive its key for long. */
function keyWatch(db: Database, key: string, everyMs: number): () => Promise<boolean> {
  let askedAt = performance.now();
  return async () => {
    if (performance.now() - askedAt < everyMs) return true;
    askedAt = performance.now();
    return isKeyValid(db, key);
  };
}

async function* closing<T>(
  chunks: AsyncGenerator<T, void, undefined>,
  close: () => void,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* chunks;
  } finally {
    close();
  }
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
