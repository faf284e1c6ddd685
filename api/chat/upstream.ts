// A request handed to a runner that serves. The runner's address and answer are foreign: the secret goes to that address
// only, redirects are not followed, and of what comes back nothing is passed on but chunks and errors of the known form.
import type { ServingRunnerRow } from '../../db/serving/table.ts';
import { readEventStream } from '../client/event-stream.ts';
import type { ChatChunk, ChatRequest } from '../contract/chat.ts';
import { chatChunk } from '../contract/chat.ts';
import { chatError } from '../contract/chat-error.ts';
import type { ProblemCode } from '../contract/problem.ts';
import { problems } from '../contract/problem.ts';
import { ProblemError } from '../problem.ts';

export interface Upstream {
  /** @throws ProblemError serving_runner_lost where the answer does not come to its end. */
  readonly chunks: AsyncIterable<ChatChunk>;
}

type Serving = Pick<ServingRunnerRow, 'url' | 'secret'>;

/** Undefined where this runner does not answer, and another may be asked. @throws ProblemError for what it refuses. */
export async function askRunner(
  { url, secret }: Serving,
  request: ChatRequest,
  signal: AbortSignal,
  silenceMs: number,
): Promise<Upstream | undefined> {
  const silence = watchSilence(silenceMs);
  const stop = AbortSignal.any([signal, silence.signal]);
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      // Always streamed between us: a long answer must not look like a dead runner.
      body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
      redirect: 'manual',
      signal: stop,
    });
    const isStream = /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '');
    silence.heard();
    if (response.ok && isStream && response.body !== null)
      return { chunks: readChunks(response.body, silence, signal) };
    // Still under watch: a refusal that comes in drops is as good as none.
    await refuseAs(response);
    silence.end();
    return undefined;
  } catch (error) {
    silence.end();
    if (signal.aborted) throw brokenOff();
    if (error instanceof ProblemError) throw error;
    return undefined;
  }
}

/** What the client did wrong is told to the client; whatever else a runner answers is its own trouble. */
async function refuseAs(response: Response): Promise<void> {
  const text = await readSome(response);
  const parsed = chatError.safeParse(parseJson(text));
  if (!parsed.success) return;
  const { code, message, param } = parsed.data.error;
  if (code !== 'invalid_spec' && code !== 'context_length_exceeded' && code !== 'serving_runner_busy') return;
  const pointer =
    param === null ? undefined : `/${param.replaceAll(/\[(\d+)\]/g, '.$1').replaceAll('.', '/')}`;
  throw new ProblemError(code satisfies ProblemCode, message.slice(0, 2_000), {
    ...(pointer === undefined ? {} : { issues: [{ pointer, message: message.slice(0, 2_000) }] }),
    ...(problems[code].status === 429 ? { headers: { 'retry-after': '2' } } : {}),
  });
}

async function* readChunks(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
  signal: AbortSignal,
): AsyncGenerator<ChatChunk, void, undefined> {
  try {
    for await (const { data } of readEventStream(heardOf(body, silence))) {
      if (data === '[DONE]') return;
      const chunk = chatChunk.safeParse(parseJson(data));
      if (!chunk.success) break;
      yield chunk.data;
    }
  } catch {
    if (signal.aborted) throw brokenOff();
  } finally {
    silence.end();
  }
  throw new ProblemError(
    'serving_runner_lost',
    'the runner went away in the middle of the answer, or failed: ask again',
  );
}

/** Nobody hears it where the client has gone; one that is still there asks the next API process. */
const brokenOff = (): ProblemError =>
  new ProblemError('serving_runner_lost', 'the answer was broken off: the service stops; ask again');

function heardOf(body: ReadableStream<Uint8Array>, silence: Silence): ReadableStream<Uint8Array> {
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      silence.heard();
      controller.enqueue(bytes);
    },
  });
  return body.pipeThrough(heard);
}

interface Silence {
  readonly signal: AbortSignal;
  heard(): void;
  end(): void;
}

/** Aborts when nothing was heard for `ms`. */
function watchSilence(ms: number): Silence {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Error(`nothing was heard for ${ms} ms`));
  let timer = setTimeout(abort, ms);
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    end: () => clearTimeout(timer),
  };
}

/** The first bytes of an answer that is not wanted. */
async function readSome(response: Response): Promise<string> {
  if (response.body === null) return '';
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > 20_000) break;
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
