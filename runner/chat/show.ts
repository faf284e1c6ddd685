// One answer on its way to the user: text as it is drawn, then on standard error how fast that was.
import type { ChatRequest } from '../../api/contract/chat.ts';
import type { ChatEngine } from '../serve/chat-engine.ts';

export interface Display {
  answer(text: string): void;
  thinking(text: string): void;
  /** A line about the answer, not part of it. */
  note(text: string): void;
}

/** Resolves with the text of the answer, what was drawn so far where `signal` ended it. @throws RequestRefused. */
export async function showAnswer(
  engine: ChatEngine,
  request: ChatRequest,
  display: Display,
  signal: AbortSignal,
): Promise<string> {
  const start = performance.now();
  const answer = engine.answer(request, signal);
  let text = '';
  let firstAt: number | undefined;
  let cut = false;
  for await (const piece of answer.pieces) {
    firstAt ??= performance.now();
    if (piece.thinking !== '') display.thinking(piece.thinking);
    if (piece.answer !== '') display.answer(piece.answer);
    text += piece.answer;
    cut = piece.finish === 'length';
  }
  const { prompt_tokens, completion_tokens } = answer.usage();
  const seconds = (performance.now() - start) / 1_000;
  const why = signal.aborted ? ', stopped' : cut ? ', cut off at its limit' : '';
  const first = firstAt === undefined ? '' : `, first after ${((firstAt - start) / 1_000).toFixed(2)} s`;
  const empty = text === '' && !signal.aborted ? 'the answer is empty; ' : '';
  display.note(
    `${empty}${prompt_tokens} tokens of prompt, ${completion_tokens} of answer${why}: ${(completion_tokens / seconds).toFixed(1)} tokens/s${first}`,
  );
  return text;
}
