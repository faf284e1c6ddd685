// Items as server-sent events of JSON, with comments while there is nothing to tell, so that the reader can tell a long
// wait from a dead runner.
import type { ChatError } from '../../api/contract/chat-error.ts';

const commentMs = 5_000;

export interface StreamOptions {
  /** Called once, when the reader has gone before the end. */
  readonly onGone: () => void;
  /** What the reader hears of an error of `items`. */
  readonly explain: (error: unknown) => ChatError;
}

/** Ends with `[DONE]`; after an error with its explanation instead. */
export function eventStream(items: AsyncIterable<unknown>, { onGone, explain }: StreamOptions): Response {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  let gone = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (!gone) controller.enqueue(encoder.encode(text));
      };
      timer = setInterval(() => write(': \n\n'), commentMs);
      void writeAll(items, write, explain).finally(() => {
        clearInterval(timer);
        if (!gone) controller.close();
      });
    },
    cancel() {
      gone = true;
      clearInterval(timer);
      onGone();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
  });
}

async function writeAll(
  items: AsyncIterable<unknown>,
  write: (text: string) => void,
  explain: (error: unknown) => ChatError,
): Promise<void> {
  try {
    for await (const item of items) write(`data: ${JSON.stringify(item)}\n\n`);
    write('data: [DONE]\n\n');
  } catch (error) {
    write(`data: ${JSON.stringify(explain(error))}\n\n`);
  }
}
