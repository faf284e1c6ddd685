// An answer of the engine as OpenAI's chunks.
import { randomUUID } from 'node:crypto';
import type { ChatChunk, Usage } from '../../api/contract/chat.ts';
import type { Answer, Piece } from './chat-engine.ts';

type Delta = ChatChunk['choices'][number]['delta'];

/** The first chunk of each choice names the role, its last the reason why it ended; usage comes after all. */
export async function* chunksOf(answer: Answer, model: string): AsyncGenerator<ChatChunk, void, undefined> {
  const frame = {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1_000),
    model,
  } as const;
  const begun = new Set<number>();
  for await (const piece of answer.pieces) {
    const role: Delta = begun.has(piece.choice) ? {} : { role: 'assistant', content: '' };
    begun.add(piece.choice);
    yield { ...frame, choices: [choiceOf(piece, role)] };
  }
  yield { ...frame, choices: [], usage: answer.usage() satisfies Usage };
}

function choiceOf({ choice, thinking, answer, finish }: Piece, role: Delta): ChatChunk['choices'][number] {
  const delta: Delta = {
    ...role,
    ...(thinking === '' ? {} : { reasoning_content: thinking }),
    ...(answer === '' ? {} : { content: answer }),
  };
  return { index: choice, delta, logprobs: null, finish_reason: finish ?? null };
}
