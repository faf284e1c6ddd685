// Ends a stream on which nothing has come for a while. A machine that was stopped or cut off breaks no connection: it only says nothing.
import { UnreachableError } from './errors.ts';

export interface Silence {
  /** Aborted once nothing has been heard for so long. */
  readonly signal: AbortSignal;
  /** The same bytes; each is a sign of life. */
  heard(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
  /** Listens no longer. */
  stop(): void;
}

/** `url`: whose silence it is, for the error. */
export function watchSilence(url: string, ms: number): Silence {
  const gone = new AbortController();
  const give = (): void => gone.abort(new UnreachableError(url, `the stream said nothing for ${ms} ms`));
  let timer = setTimeout(give, ms);
  const stop = (): void => clearTimeout(timer);
  return {
    signal: gone.signal,
    stop,
    heard: (body) =>
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            stop();
            timer = setTimeout(give, ms);
            controller.enqueue(chunk);
          },
        }),
      ),
  };
}
