// Chunks of a runner as what the client asked for: an event stream, or one completion.
import type { ChatChunk, ChatCompletion, FinishReason } from '../contract/chat.ts';
import { chatErrorOf } from '../contract/chat-error.ts';
import { ProblemError, problemOf } from '../problem.ts';

/** Characters of all choices together, at most: a runner that never ends must not fill the memory of the service. */
const mostChars = 1 << 26;

/** The chunks gathered. @throws ProblemError where they do not come to an end. */
export async function gather(chunks: AsyncIterable<ChatChunk>): Promise<ChatCompletion> {
  const choices = new Map<number, { content: string; thinking: string; finish: FinishReason }>();
  let last: ChatChunk | undefined;
  let chars = 0;
  for await (const chunk of chunks) {
    last = chunk;
    for (const { index, delta, finish_reason } of chunk.choices) {
      const choice = choices.get(index) ?? { content: '', thinking: '', finish: 'stop' };
      choice.content += delta.content ?? '';
      choice.thinking += delta.reasoning_content ?? '';
      choice.finish = finish_reason ?? choice.finish;
      chars += (delta.content ?? '').length + (delta.reasoning_content ?? '').length;
      if (chars > mostChars)
        throw new ProblemError(
          'serving_runner_lost',
          `the runner's answer has more than ${mostChars} characters`,
        );
      choices.set(index, choice);
    }
  }
  if (!last?.usage)
    throw new ProblemError('serving_runner_lost', 'the runner gave no whole answer: ask again');
  return {
    id: last.id,
    object: 'chat.completion',
    created: last.created,
    model: last.model,
    choices: [...choices]
      .sort(([a], [b]) => a - b)
      .map(([index, { content, thinking, finish }]) => ({
        index,
        message: {
          role: 'assistant',
          content,
          ...(thinking === '' ? {} : { reasoning_content: thinking }),
          refusal: null,
        },
        logprobs: null,
        finish_reason: finish,
      })),
    usage: last.usage,
  };
}

/** The event stream; `stopped` is called when the client has gone. A failure in the middle ends it with an error event. */
export function stream(
  chunks: AsyncIterable<ChatChunk>,
  { withUsage, keepAliveMs, stopped }: { withUsage: boolean; keepAliveMs: number; stopped: () => void },
): Response {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => controller.enqueue(encoder.encode(text));
      timer = setInterval(() => write(': \n\n'), keepAliveMs);
      void relay(chunks, withUsage, write).finally(() => {
        clearInterval(timer);
        try {
          controller.close();
        } catch {
          // The client has closed it before.
        }
      });
    },
    cancel() {
      clearInterval(timer);
      stopped();
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that gather an answer before they pass it on would undo the streaming.
      'x-accel-buffering': 'no',
    },
  });
}

async function relay(
  chunks: AsyncIterable<ChatChunk>,
  withUsage: boolean,
  write: (text: string) => void,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      const { usage, ...rest } = chunk;
      // The runner always counts; only who asked for it gets it.
      if (withUsage) write(`data: ${JSON.stringify({ ...rest, usage: usage ?? null })}\n\n`);
      else if (rest.choices.length > 0) write(`data: ${JSON.stringify(rest)}\n\n`);
    }
    write('data: [DONE]\n\n');
  } catch (error) {
    const lost =
      error instanceof ProblemError
        ? error
        : new ProblemError('serving_runner_lost', 'the answer ended before its time: ask again');
    try {
      write(`data: ${JSON.stringify(chatErrorOf(problemOf(lost)).body)}\n\n`);
    } catch {
      // Nobody reads any more.
    }
  }
}
