// Entry of `millrace chat`: talks to a model with the engine in this process, without any service. On a terminal it is a
// conversation; with --message, or with text on standard input, one answer on standard output.
import { text } from 'node:stream/consumers';
import { ArgumentsError, readArguments } from './chat/arguments.ts';
import type { ChatArguments } from './chat/arguments.ts';
import { Conversation } from './chat/conversation.ts';
import { showAnswer } from './chat/show.ts';
import { chatOnTerminal } from './chat/terminal.ts';
import { createRuntime } from './engine/ort/create.ts';
import { ChatEngine } from './serve/chat-engine.ts';
import { explainStart } from './serve/explain-start.ts';
import { modelDirectory } from './serve/model-directory.ts';
import { RequestRefused } from './serve/refused.ts';

/** Tokens of prompt and answer together, unless --context says otherwise: a cache for all that a model could hold may be huge. */
const defaultContext = 8_192;

async function main(words: readonly string[]): Promise<number> {
  const given = readArguments(words);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (ending.signal.aborted) process.exit(130);
      ending.abort();
    });
  }
  const tell = (message: string): void => console.error(message);
  // Opening a model takes seconds; a terminal that says nothing meanwhile looks hung.
  if (process.stdin.isTTY && process.stderr.isTTY) tell(`opening ${given.model}`);
  const runtime = createRuntime({ provider: given.accelerator, warn: tell, tell });
  const directory = await modelDirectory(given.model, process.env);
  const engine = await ChatEngine.open(runtime, directory, {
    rows: 1,
    contextTokens: given.context ?? defaultContext,
  });
  const conversation = begin(given, engine);
  const message =
    given.message ?? (process.stdin.isTTY ? undefined : (await text(process.stdin)).replace(/\r?\n$/, ''));
  if (message !== undefined) await answerOnce(engine, conversation, message, ending.signal);
  else {
    tell('/help lists the commands, Ctrl-D ends');
    await chatOnTerminal(engine, conversation, ending.signal);
  }
  return ending.signal.aborted ? 130 : 0;
}

function begin(given: ChatArguments, engine: ChatEngine): Conversation {
  const settings = {
    temperature: given.temperature,
    top_p: given['top-p'],
    top_k: given['top-k'],
    min_p: given['min-p'],
    max_tokens: given['max-tokens'],
    seed: given.seed,
    stop: given.stop,
  };
  const thinking = given.think === true ? true : given['no-think'] === true ? false : undefined;
  return new Conversation(settings, { system: given.system, thinking, hasThinking: engine.hasThinking });
}

/** The thinking goes to standard error: standard output is the answer and nothing else. */
async function answerOnce(
  engine: ChatEngine,
  conversation: Conversation,
  message: string,
  signal: AbortSignal,
): Promise<void> {
  if (message.trim() === '')
    throw new ArgumentsError('the message is empty: give --message, or text on standard input');
  const request = conversation.askOnce(message);
  await showAnswer(
    engine,
    request,
    {
      answer: (piece) => void process.stdout.write(piece),
      thinking: (piece) => void process.stderr.write(piece),
      note: (line) => {
        process.stdout.write('\n');
        console.error(line);
      },
    },
    signal,
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`millrace chat: ${explainStart(error, [ArgumentsError, RequestRefused])}`);
  process.exitCode = 1;
}
process.exit();
