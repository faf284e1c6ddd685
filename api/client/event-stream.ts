// Server-sent events, read as their specification says (fields, comments, CR and LF), as far as our service uses it.

export interface StreamMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Characters of a message, and of a line, at most: none of ours comes near, and whoever else sends must not fill the memory. */
const mostChars = 1 << 24;

/**
 * The messages of a stream until it ends; a message that the connection cut off is not given. RangeError where one has no end.
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamMessage, void, undefined> {
  let id = '';
  let event = '';
  let data: string[] = [];
  let held = 0;
  for await (const line of readLines(body)) {
    held = checkLength(line === '' ? 0 : held + line.length);
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the very end may be half of a CR LF: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    checkLength(rest.length);
    yield* lines;
  }
}

function checkLength(chars: number): number {
  if (chars > mostChars) throw new RangeError(`an event has more than ${mostChars} characters`);
  return chars;
}
