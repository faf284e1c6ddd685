// Conversations to tokens: where the prompt ends, how the answer ends, and that nothing after the end is learnt.
import { describe, expect, it } from 'vitest';
import { conversationTokens, promptMode, promptTokens, roomyPrompts } from '../../runner/cascade/prompt.ts';
import type { Policy } from '../../runner/cascade/policy.ts';
import { DataError } from '../../runner/data/error.ts';
import { charactersTokenizer } from '../../runner/engine/tokenizer/characters.ts';
import { parseTokenizerFiles } from '../../runner/engine/tokenizer/files.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';

const [sep, eos] = [0, 1];
const texts = charactersTokenizer('0123456789\n');

/** The characters tokenizer with another chat template; null: none. */
function tokenizerWith(chatTemplate: string | null | undefined): Tokenizer {
  const config = JSON.parse(texts.config) as Record<string, unknown>;
  const own = chatTemplate === undefined ? config['chat_template'] : chatTemplate;
  const files = { tokenizer: texts.tokenizer, config: JSON.stringify({ ...config, chat_template: own }) };
  return new Tokenizer(parseTokenizerFiles(files, 'test'));
}

const digit = (text: string) => [...text].map((character) => 4 + Number(character));
const conversation = [
  { role: 'user', content: '12' },
  { role: 'assistant', content: '34' },
] as const;

describe('conversationTokens', () => {
  it('takes the answer with the end that the template writes', () => {
    const { prompt, response } = conversationTokens(tokenizerWith(undefined), conversation, 'auto');
    expect([...prompt]).toEqual([...digit('12'), sep]);
    expect([...response]).toEqual([...digit('34'), eos]);
  });

  it('leaves out what a template writes after the end, as ChatML does', () => {
    const chatMl =
      "{% for m in messages %}{{ m['content'] }}{% if m['role'] == 'user' %}{{ sep_token }}{% else %}{{ eos_token }}\n{% endif %}{% endfor %}";
    const tokenizer = tokenizerWith(chatMl.replace('\n', "{{ '\\n' }}"));
    expect(tokenizer.renderChat(conversation, { addGenerationPrompt: false })).toMatch(/\n$/);
    expect([...conversationTokens(tokenizer, conversation, 'auto').response]).toEqual([...digit('34'), eos]);
  });

  it('ends the answer itself where the template says nothing of an end', () => {
    const bare =
      "{% for m in messages %}{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}{{ sep_token }}{% endif %}";
    const { prompt, response } = conversationTokens(tokenizerWith(bare), conversation, 'auto');
    expect([...prompt]).toEqual([...digit('12'), sep]);
    expect([...response]).toEqual([...digit('34'), eos]);
  });

  it('reads a pair without a template as text and continuation, and refuses longer conversations', () => {
    const tokenizer = tokenizerWith(null);
    expect([...conversationTokens(tokenizer, conversation, 'auto').response]).toEqual([...digit('34'), eos]);
    const longer = [...conversation, ...conversation];
    expect(() => conversationTokens(tokenizer, longer, 'auto')).toThrow(/without a chat template/);
  });
});

describe('promptTokens', () => {
  it('is a user message by the template, raw text where the spec says so', () => {
    const tokenizer = tokenizerWith(undefined);
    expect([...promptTokens(tokenizer, '12', 'auto')]).toEqual([...digit('12'), sep]);
    expect([...promptTokens(tokenizer, '12', 'raw')]).toEqual(digit('12'));
    expect(() => promptTokens(tokenizer, [{ role: 'user', content: '1' }], 'raw')).toThrow(
      /takes string prompts/,
    );
    expect(() => promptTokens(tokenizerWith(null), [{ role: 'user', content: '1' }], 'auto')).toThrow(
      /no chat template/,
    );
  });
});

describe('a mode', () => {
  const switching =
    "{% for m in messages %}{{ m['content'] }}{% endfor %}{% if enable_thinking %}7{% else %}8{% endif %}";
  const rows = [{ prompt: '12', answer: '3' }];
  const last = (policy: Partial<Policy>, mode?: 'thinking' | 'non_thinking'): string => {
    const tokenizer = tokenizerWith(switching);
    const learner = { maxLength: 64 } as Policy['learner'];
    const room = { format: 'auto', maxResponse: 8, mode } as const;
    const [prompt_T] = roomyPrompts({ tokenizer, learner, ...policy }, rows, room, 'stage math');
    return tokenizer.decode([...(prompt_T ?? [])], { keepSpecial: true });
  };

  it('is what the template does by itself where none is asked for', () => {
    expect(last({})).toBe('128');
    expect(last({ thinkingControl: 'flags' })).toBe('128');
  });

  it('is asked for as the template offers, or as the spec says', () => {
    expect(last({}, 'thinking')).toBe('127');
    expect(last({ thinkingControl: 'template' }, 'thinking')).toBe('127');
    // The flag's characters are unknown to this tokenizer: " /think" are seven.
    expect(last({ thinkingControl: 'flags' }, 'thinking')).toBe(`12${'<unk>'.repeat(7)}8`);
    expect(last({ thinkingControl: 'none' }, 'non_thinking')).toBe('128');
  });

  it('that the model lacks is an error of the first row', () => {
    expect(() => last({ thinkingControl: 'none' }, 'thinking')).toThrow(DataError);
    expect(() => last({ thinkingControl: 'none' }, 'thinking')).toThrow(
      /stage math, row 0.*the only mode is non_thinking/,
    );
  });

  it('reaches the conversations of supervised stages', () => {
    const thinking = promptMode({ thinkingControl: 'template' }, 'thinking');
    const { prompt } = conversationTokens(tokenizerWith(switching), conversation, 'auto', thinking);
    expect([...prompt]).toEqual(digit('127'));
  });
});
