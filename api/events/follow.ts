// A job's events as they happen, as server-sent events: what is there already, then what comes, to the last one.
// Between looks no database connection is held; a hint makes the next look early, polling makes it certain.
import type { JobEvent } from '../contract/event.ts';
import { isTerminal } from '../contract/job.ts';
import type { EventHints } from './hints.ts';

export interface Follow {
  readonly job: string;
  /** The last sequence number that the reader has. */
  readonly after: number;
  /** The next events after a sequence number, oldest first, none when there are none. */
  readonly read: (after: number) => Promise<readonly JobEvent[]>;
  readonly hints: EventHints;
  readonly pollMs: number;
  readonly keepAliveMs: number;
  readonly signal: AbortSignal;
}

/** The stream ends before the job does: the service stops, or the stream is old. Whoever reads on asks again soon. */
const comeBack = 'retry: 1000\n: to be continued: ask again with Last-Event-ID\n\n';

/** Text chunks of the stream; ends after the job's terminal event, or when the signal is aborted. */
export async function* followEvents(follow: Follow): AsyncGenerator<string, void, undefined> {
  const watch = follow.hints.watch(follow.job);
  try {
    yield ': following\n\n';
    for (let after = follow.after, quietSince = performance.now(); !follow.signal.aborted;) {
      const events = await follow.read(after);
      for (const event of events) {
        yield sseMessage(event);
        after = event.seq;
        if (isLast(event)) return;
      }
      if (events.length === 0 && performance.now() - quietSince >= follow.keepAliveMs)
        yield ': still here\n\n';
      else if (events.length === 0) {
        await watch.wait(Math.min(follow.pollMs, follow.keepAliveMs), follow.signal);
        continue;
      }
      quietSince = performance.now();
    }
    yield comeBack;
  } finally {
    watch.close();
  }
}

export const isLast = (event: JobEvent): boolean => event.body.type === 'state' && isTerminal(event.body.to);

/** JSON has no raw line breaks, so one data line holds it. */
export const sseMessage = (event: JobEvent): string =>
  `id: ${event.seq}\nevent: ${event.body.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Pulls from the generator only as fast as the client reads; a client that goes away ends it. */
export function eventStream(
  chunks: AsyncGenerator<string, void, undefined>,
  abort: AbortController,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (next.done === true) {
        onEnd();
        controller.close();
      } else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      abort.abort();
      onEnd();
      await chunks.return();
    },
  });
}
