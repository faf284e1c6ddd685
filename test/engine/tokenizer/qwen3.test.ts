// The real Qwen3 tokenizer and template: every golden row, tools, and thinking control in the tokens that a model sees.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { conversationTokens, promptOpensThinking, promptTokens } from '../../../runner/cascade/prompt.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';
import type { ChatMessage } from '../../../runner/engine/tokenizer/tokenizer.ts';
import { qwen3TokenizerDir } from '../../support/qwen3-tokenizer.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

let tokenizer: Tokenizer;
beforeAll(async () => void (tokenizer = await Tokenizer.load(qwen3TokenizerDir)));

function goldens<Row>(file: string): Row[] {
  const lines = readFileSync(testData(`qwen3/${file}`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

interface GoldenChat {
  readonly messages: ChatMessage[];
  readonly add_generation_prompt: boolean;
  readonly enable_thinking?: boolean;
  readonly rendered: string;
  readonly ids: number[];
}

describe.skipIf(testDataDir === undefined)(`goldens (skipped if ${noTestData})`, () => {
  test('every text has its ids, and they decode to the text', () => {
    const rows = goldens<{ text: string; ids: number[] }>('tokenizer_golden.jsonl');
    expect(rows.length).toBeGreaterThanOrEqual(33);
    for (const { text, ids } of rows) {
      expect(tokenizer.encode(text), text).toEqual(ids);
      expect(tokenizer.encodeExact(text), text).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(text);
    }
  });

  test('every chat renders as given and has its ids', () => {
    const rows = goldens<GoldenChat>('chat_template_golden.jsonl');
    expect(rows.length).toBe(8);
    for (const row of rows) {
      const variables = row.enable_thinking === undefined ? {} : { enable_thinking: row.enable_thinking };
      const options = { addGenerationPrompt: row.add_generation_prompt, variables };
      expect(tokenizer.renderChat(row.messages, options)).toBe(row.rendered);
      expect(tokenizer.encodeChat(row.messages, options)).toEqual(row.ids);
      expect(tokenizer.decode(row.ids, { keepSpecial: true })).toBe(row.rendered);
    }
  });

  test('the mode of a prompt gives the golden ids of the template’s switch', () => {
    for (const row of goldens<GoldenChat>('chat_template_golden.jsonl')) {
      if (!row.add_generation_prompt) continue;
      const mode = row.enable_thinking === false ? 'non_thinking' : 'thinking';
      const messages = row.messages as { role: 'user'; content: string }[];
      expect([...promptTokens(tokenizer, messages, 'auto', { mode })]).toEqual(row.ids);
    }
  });

  test('the packed configuration is the one that the goldens were made with', () => {
    expect(JSON.parse(readFileSync(join(qwen3TokenizerDir, 'tokenizer_config.json'), 'utf8'))).toEqual(
      JSON.parse(readFileSync(testData('qwen3/tokenizer_config.json'), 'utf8')),
    );
  });
});

test('special tokens and sizes', () => {
  expect([tokenizer.bosId, tokenizer.eosId, tokenizer.padId]).toEqual([undefined, 151_645, 151_643]);
  expect(tokenizer.vocabSize).toBe(151_669);
  expect(tokenizer.thinkingControl).toBe('template');
});

test('tools and a system prompt stand in the system turn, a tool’s answer in a user turn', () => {
  const tool = {
    type: 'function',
    function: { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: { a: {} } } },
  };
  const call = { type: 'function', function: { name: 'add', arguments: { a: 1 } } };
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '1+1?' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', content: '2' },
  ];
  const text = tokenizer.renderChat(messages, { addGenerationPrompt: true, tools: [tool] });
  expect(text).toBe(
    '<|im_start|>system\nBe brief.\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n' +
      'You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n' +
      '{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"a": {}}}}}' +
      '\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n' +
      '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n' +
      '<|im_start|>user\n1+1?<|im_end|>\n' +
      '<|im_start|>assistant\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call><|im_end|>\n' +
      '<|im_start|>user\n<tool_response>\n2\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
  );
  const ids = tokenizer.encodeChat(messages, { addGenerationPrompt: true, tools: [tool] });
  expect(tokenizer.decode(ids, { keepSpecial: true })).toBe(text);
});

test('flags: the tokens after each user turn, no empty block; the switch: an empty block that is not open', () => {
  const flagged = promptTokens(tokenizer, 'Hi', 'auto', { mode: 'non_thinking', control: 'flags' });
  expect(tokenizer.decode([...flagged], { keepSpecial: true })).toBe(
    '<|im_start|>user\nHi /no_think<|im_end|>\n<|im_start|>assistant\n',
  );
  const opened = tokenizer.encodeExact('<|im_start|>assistant\n<think>\n');
  expect(promptOpensThinking(tokenizer, Int32Array.from(opened))).toBe(true);
  for (const mode of ['thinking', 'non_thinking'] as const)
    expect(promptOpensThinking(tokenizer, promptTokens(tokenizer, 'Hi', 'auto', { mode }))).toBe(false);
});

test('a conversation learns its answer after the empty block where the mode is non-thinking, else the block too', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '<think>\nx\n</think>\n\nHello!' },
  ] as const;
  const plain = [messages[0], { role: 'assistant', content: 'Hello!' }] as const;
  const text = (ids: Int32Array) => tokenizer.decode([...ids], { keepSpecial: true });
  const head = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';
  const thinking = conversationTokens(tokenizer, messages, 'auto', { mode: 'thinking' });
  expect([text(thinking.prompt), text(thinking.response)]).toEqual([
    head,
    '<think>\nx\n</think>\n\nHello!<|im_end|>',
  ]);
  const direct = conversationTokens(tokenizer, plain, 'auto', { mode: 'non_thinking' });
  expect([text(direct.prompt), text(direct.response)]).toEqual([
    `${head}<think>\n\n</think>\n\n`,
    'Hello!<|im_end|>',
  ]);
});
