// Follows a job's events over SSE to the last one, through restarts of the service: after a break it asks again
// from the last event it has seen, so nothing is missed and nothing comes twice.
import type { JobEvent } from '../contract/event.ts';
import { jobEvent } from '../contract/event.ts';
import { isTerminal } from '../contract/job.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { readEventStream } from './event-stream.ts';
import type { ClientOptions } from './request.ts';
import { backoff, pause, send } from './request.ts';
import { watchSilence } from './silence.ts';

export interface Follow {
  /** The last sequence number that is known already. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** The service sends at least a comment every 15 s. */
const silenceMs = 45_000;

/** Retries for ever while the service is away; other problems (404, 401 …) are thrown. */
export async function* followEvents(
  options: ClientOptions,
  job: string,
  follow: Follow,
): AsyncGenerator<JobEvent, void, undefined> {
  let after = follow.after ?? 0;
  for (let failed = 0; ;) {
    const silence = watchSilence(options.url, options.silenceMs ?? silenceMs);
    try {
      const signal = AbortSignal.any([silence.signal, ...(follow.signal ? [follow.signal] : [])]);
      const response = await connect(options, job, after, signal);
      if (response.status === 204 || response.body === null) return;
      for await (const message of readEventStream(silence.heard(response.body))) {
        const event = jobEvent.parse(JSON.parse(message.data));
        if (event.seq <= after) continue;
        after = event.seq;
        failed = 0;
        yield event;
        if (event.body.type === 'state' && isTerminal(event.body.to)) return;
      }
    } catch (error) {
      follow.signal?.throwIfAborted();
      if (!isBreak(error)) throw error;
    } finally {
      silence.stop();
    }
    failed += 1;
    await pause(backoff(Math.min(failed, 8), options.pauseMs ?? 200), follow.signal);
  }
}

const connect = (
  options: ClientOptions,
  job: string,
  after: number,
  signal: AbortSignal | undefined,
): Promise<Response> =>
  send(options, {
    method: 'GET',
    path: `/v1/jobs/${encodeURIComponent(job)}/events`,
    headers: { accept: 'text/event-stream', 'last-event-id': String(after) },
    repeatable: false,
    timeoutMs: null,
    signal,
  });

/** A connection that broke in the middle is a TypeError of fetch's reader. */
const isBreak = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  error instanceof TypeError ||
  (error instanceof ApiError && (error.status >= 500 || error.status === 429)) ||
  (error instanceof Error &&
    error.cause instanceof Error &&
    /socket|terminated|aborted/i.test(error.cause.message));
