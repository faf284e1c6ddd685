// JSON bodies, read once and strictly before any schema sees them: bounded, UTF-8, JSON, not too deep, and without
// the characters that Postgres cannot keep. Reports of runners carry text that models wrote: there such characters
// are replaced, since a report that is refused would stop a job.
import type { MiddlewareHandler } from 'hono';
import { decodeUtf8, isTooDeep, replaceUnstorable, unstorableIssues } from '../json.ts';
import { inWords, ProblemError } from '../problem.ts';

/** @throws ProblemError too_large, invalid_json, invalid_spec. */
export function jsonBody(options: {
  readonly maxBytes: number;
  readonly foreignText?: boolean;
}): MiddlewareHandler {
  return async (c, next) => {
    const bytes = await readBounded(c.req.raw, options.maxBytes);
    if (
      bytes.byteLength > 0 &&
      !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(c.req.header('content-type') ?? '')
    )
      throw new ProblemError(
        'unsupported_media_type',
        'send the body as JSON, with content-type: application/json',
      );
    const text = decode(bytes);
    const value = parse(text);
    const issues = unstorableIssues(value);
    if (issues.length > 0 && (isTooDeep(issues) || options.foreignText !== true))
      throw new ProblemError('invalid_spec', inWords(issues), { issues });
    const clean = issues.length > 0 ? JSON.stringify(replaceUnstorable(value)) : text;
    // Hono types this cache by what its promises resolve to.
    c.req.bodyCache.text = Promise.resolve(clean) as unknown as string;
    await next();
  };
}

/** The whole body, never more than `maxBytes` of it. */
export async function readBounded(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): ProblemError =>
    new ProblemError('too_large', `the body has more than ${maxBytes} bytes`);
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The chunks of a body; a client that goes away in the middle is its own fault, not ours. */
export async function* bodyChunks(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  if (request.body === null) return;
  try {
    yield* request.body as unknown as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (cause instanceof ProblemError) throw cause;
    throw new ProblemError('incomplete_body', 'the connection ended before the body did: send it again', {
      cause,
    });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw new ProblemError('invalid_json', 'the body is not UTF-8', { cause });
  }
}

function parse(text: string): unknown {
  if (text.trim() === '')
    throw new ProblemError('invalid_json', 'the body is empty: a JSON object is wanted');
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ProblemError('invalid_json', `the body is not JSON: ${why}`, { cause });
  }
}
