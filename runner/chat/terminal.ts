// The conversation on a terminal: lines in, answers streamed out. Ctrl-C stops an answer, at the prompt it only says how to
// end; Ctrl-D ends. A line typed during an answer waits for its end.
import { createInterface } from 'node:readline';
import type { ChatEngine } from '../serve/chat-engine.ts';
import { RequestRefused } from '../serve/refused.ts';
import type { Conversation } from './conversation.ts';
import { showAnswer } from './show.ts';
import type { Display } from './show.ts';

const dim = (text: string): string => `\x1b[2m${text}\x1b[22m`;

const display: Display = {
  answer: (text) => void process.stdout.write(text),
  thinking: (text) => void process.stdout.write(dim(text)),
  note: (text) => console.error(`\n${dim(text)}`),
};

/** Resolves when the user ends it, or `ending` is aborted. */
export async function chatOnTerminal(
  engine: ChatEngine,
  conversation: Conversation,
  ending: AbortSignal,
): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  let answering: AbortController | undefined;
  lines.on('SIGINT', () => {
    if (answering === undefined) process.stdout.write('\n(Ctrl-D ends)\n');
    else answering.abort();
    if (answering === undefined) lines.prompt();
  });
  ending.addEventListener('abort', () => lines.close(), { once: true });
  lines.on('close', () => answering?.abort());
  lines.prompt();
  for await (const line of lines) {
    answering = new AbortController();
    await takeLine(engine, conversation, line, answering.signal);
    answering = undefined;
    if (ending.aborted) return;
    lines.prompt();
  }
  process.stdout.write('\n');
}

async function takeLine(
  engine: ChatEngine,
  conversation: Conversation,
  line: string,
  signal: AbortSignal,
): Promise<void> {
  const turn = conversation.take(line);
  if (turn.type === 'say') console.log(turn.text);
  if (turn.type !== 'ask') return;
  try {
    conversation.answered(await showAnswer(engine, turn.request, display, signal));
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    conversation.refused();
    console.error(error.message);
  }
}
