// Thinking control on templates that switch, that read flags, that open the block by themselves, and that know nothing of it.
import { describe, expect, test } from 'vitest';
import { charactersTokenizer } from '../../../runner/engine/tokenizer/characters.ts';
import { parseTokenizerFiles } from '../../../runner/engine/tokenizer/files.ts';
import {
  flagMessages,
  opensThinking,
  renderThinking,
  skipsThinking,
  splitThinking,
  templateThinkingControl,
} from '../../../runner/engine/tokenizer/thinking.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';

function withTemplate(chatTemplate: string, config: Record<string, unknown> = {}): Tokenizer {
  const texts = charactersTokenizer('ab');
  const merged = JSON.stringify({ ...(JSON.parse(texts.config) as object), ...config });
  return new Tokenizer(
    parseTokenizerFiles({ tokenizer: texts.tokenizer, config: merged, chatTemplate }, 'x'),
  );
}

const turns = '{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}';
const generation = (text: string) => `${turns}{% if add_generation_prompt %}[assistant]${text}{% endif %}`;
const plain = withTemplate(generation(''));
const opening = withTemplate(generation('<think>\n'));
const switching = withTemplate(
  generation('{% if enable_thinking is false %}<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}'),
);
const user = (content: string) => ({ role: 'user', content });
const prompt = { addGenerationPrompt: true };
const chat = [user('a'), { role: 'assistant', content: 'b' }, user('b')];
const body = '[user]a[assistant]b[user]b[assistant]';

describe('the control that a template offers', () => {
  test.each([
    [undefined, 'none'],
    ['{{ messages }}', 'none'],
    ['{# enable_thinking is not read #}{{ messages }}', 'none'],
    ['{% if enable_thinking is false %}{% endif %}', 'template'],
    ['{% if "/no_think" in message.content %}{% endif %}', 'flags'],
    ['{% if enable_thinking %}/no_think{% endif %}', 'template'],
  ])('%s: %s', (template, control) => expect(templateThinkingControl(template)).toBe(control));
});

describe('template', () => {
  const render = (tokenizer: Tokenizer, mode: 'thinking' | 'non_thinking') =>
    renderThinking(tokenizer, chat, prompt, { control: 'template', mode });

  test('sets the switch', () => {
    expect(render(switching, 'thinking')).toBe(`${body}<think>\n`);
    expect(render(switching, 'non_thinking')).toBe(`${body}<think>\n\n</think>\n\n`);
  });

  test('closes a block that the template opens without a switch, and adds the empty one where it opens none', () => {
    expect(render(opening, 'thinking')).toBe(`${body}<think>\n`);
    expect(render(opening, 'non_thinking')).toBe(`${body}<think>\n\n</think>\n\n`);
    expect(render(plain, 'thinking')).toBe(body);
    expect(render(plain, 'non_thinking')).toBe(`${body}<think>\n\n</think>\n\n`);
  });

  test('adds nothing to a chat that ends with its answer', () => {
    const done = { addGenerationPrompt: false };
    const thinking = { control: 'template', mode: 'non_thinking' } as const;
    expect(renderThinking(plain, [user('a')], done, thinking)).toBe('[user]a');
  });
});

describe('flags', () => {
  test('end every user turn and no other', () => {
    const messages = [{ role: 'system', content: 's' }, ...chat];
    const text = (mode: 'thinking' | 'non_thinking') =>
      renderThinking(plain, messages, prompt, { control: 'flags', mode });
    expect(text('thinking')).toBe('[system]s[user]a /think[assistant]b[user]b /think[assistant]');
    expect(text('non_thinking')).toBe('[system]s[user]a /no_think[assistant]b[user]b /no_think[assistant]');
    expect(messages[1]!.content).toBe('a');
  });

  test('the last mode asked for holds, once', () => {
    const twice = flagMessages(flagMessages(chat, 'thinking'), 'non_thinking');
    expect(twice).toEqual(flagMessages(chat, 'non_thinking'));
    expect(flagMessages(twice, 'non_thinking')).toEqual(twice);
    expect(flagMessages([user('the path /think')], 'thinking')[0]!.content).toBe('the path /think');
    expect(flagMessages([user('a/think')], 'thinking')[0]!.content).toBe('a/think /think');
  });

  test('the switch of a template is left alone', () => {
    const text = renderThinking(switching, [user('a')], prompt, { control: 'flags', mode: 'non_thinking' });
    expect(text).toBe('[user]a /no_think[assistant]<think>\n');
  });
});

test('none: one mode, and the other is refused', () => {
  expect(renderThinking(plain, chat, prompt, { control: 'none', mode: 'non_thinking' })).toBe(body);
  expect(() => renderThinking(plain, chat, prompt, { control: 'none', mode: 'thinking' })).toThrow(
    /the only mode is non_thinking/,
  );
});

test('whether a prompt opened the block', () => {
  expect(opensThinking('[assistant]<think>')).toBe(true);
  expect(opensThinking('[assistant]<think>\n')).toBe(true);
  expect(opensThinking('[assistant]<think>\n\n</think>\n\n')).toBe(false);
  expect(opensThinking('[user]what is <think> for?[assistant]')).toBe(false);
  expect(skipsThinking('[assistant]<think>\n\n</think>\n\n')).toBe(true);
  expect(skipsThinking('[assistant]<think>\n')).toBe(false);
});

describe('thinking and answer', () => {
  test.each([
    ['<think>\nx\n</think>\n\ny', false, 'x', 'y'],
    ['\n<think>x</think>y\n', false, 'x', 'y\n'],
    ['x\n</think>\n\ny', true, 'x', 'y'],
    ['<think>x</think>y', true, 'x', 'y'],
    ['x</think>a</think>b', true, 'x', 'a</think>b'],
    ['</think>', true, '', ''],
    ['x', true, 'x', undefined],
    ['<think>x', false, 'x', undefined],
    ['', true, '', undefined],
    ['y', false, undefined, 'y'],
    ['', false, undefined, ''],
    ['y </think> z', false, undefined, 'y </think> z'],
    ['y <think>x</think>', false, undefined, 'y <think>x</think>'],
  ])('%j, opened by the prompt: %s', (response, opened, thinking, answer) =>
    expect(splitThinking(response, opened)).toEqual({ thinking, answer }),
  );
});

describe('exactly one BOS', () => {
  const bos = { bos_token: '<sep>' };
  const ids = (template: string, content: string) =>
    withTemplate(template, bos).encodeChat([user(content)], prompt);

  test('the template’s own stays one, also where the text brings another', () => {
    expect(ids('{{ bos_token }}{{ messages[0].content }}', 'a')).toEqual([0, 4]);
    expect(ids('{{ bos_token }}{{ messages[0].content }}', '<sep>a')).toEqual([0, 4]);
    expect(ids('{{ bos_token }}{{ bos_token }}{{ bos_token }}', 'a')).toEqual([0]);
  });

  test('none is invented, and one inside the text stays', () => {
    expect(ids('{{ messages[0].content }}', 'a')).toEqual([4]);
    expect(ids('{{ bos_token }}{{ messages[0].content }}', 'a<sep><sep>b')).toEqual([0, 4, 0, 0, 5]);
  });
});
