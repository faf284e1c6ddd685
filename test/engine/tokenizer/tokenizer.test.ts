import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  charactersTokenizer,
  charactersTokenizerFiles,
} from '../../../runner/engine/tokenizer/characters.ts';
import { parseTokenizerFiles } from '../../../runner/engine/tokenizer/files.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

interface Golden {
  readonly text: string;
  readonly ids: number[];
}

async function goldens(file: string): Promise<Golden[]> {
  const lines = (await readFile(testData(file), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Golden);
}

describe.skipIf(testDataDir === undefined)(`published tokenizers (skipped if ${noTestData})`, () => {
  test('stories260K: every golden text has the golden ids, and decodes back', async () => {
    const tokenizer = await Tokenizer.load(testData('stories260K/hf'));
    expect([tokenizer.vocabSize, tokenizer.bosId, tokenizer.eosId, tokenizer.padId]).toEqual([
      512,
      1,
      2,
      undefined,
    ]);
    const cases = await goldens('stories260K/hf/tokenizer_golden.jsonl');
    expect(cases.length).toBeGreaterThan(10);
    for (const { text, ids } of cases) {
      expect(tokenizer.encode(text)).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(text);
    }
  });

  test('stories260K: BOS exactly once, also where the text brings its own', async () => {
    const tokenizer = await Tokenizer.load(testData('stories260K/hf'));
    const ids = tokenizer.encode('<s>hello');
    expect(ids.filter((id) => id === tokenizer.bosId)).toEqual([1]);
    expect(tokenizer.encodeExact('hello')).not.toContain(tokenizer.bosId);
  });

  test('digit-completion: prompts through the chat template have the golden ids', async () => {
    const tokenizer = await Tokenizer.load(testData('digit-completion'));
    const { cases } = JSON.parse(await readFile(testData('digit-completion/golden.json'), 'utf8')) as {
      cases: { prompt: string; ids: number[] }[];
    };
    expect(cases.length).toBe(3);
    for (const { prompt, ids } of cases) {
      expect(
        tokenizer.encodeChat([{ role: 'user', content: prompt }], { addGenerationPrompt: true }),
      ).toEqual(ids);
    }
    expect([tokenizer.bosId, tokenizer.eosId, tokenizer.padId, tokenizer.vocabSize]).toEqual([
      undefined,
      1,
      2,
      16,
    ]);
  });

  test('digit-completion: what the template refuses is an error with its words', async () => {
    const tokenizer = await Tokenizer.load(testData('digit-completion'));
    const render = (): string =>
      tokenizer.renderChat([{ role: 'system', content: 'x' }], { addGenerationPrompt: true });
    expect(render).toThrow(
      /digit-completion: the chat template refused the messages: .*System role not supported/,
    );
  });

  test('Qwen3: chats render as the golden ones do, with and without thinking', async () => {
    interface GoldenChat {
      readonly messages: { role: string; content: string }[];
      readonly add_generation_prompt: boolean;
      readonly enable_thinking?: boolean;
      readonly rendered: string;
    }
    // Its vocabulary is not part of the shared data: the template is what is tested, on a stand-in vocabulary.
    const config = JSON.parse(await readFile(testData('qwen3/tokenizer_config.json'), 'utf8')) as {
      chat_template: string;
    };
    const stand = JSON.parse(charactersTokenizer('abc').config) as Record<string, unknown>;
    const texts = {
      tokenizer: charactersTokenizer('abc').tokenizer,
      config: JSON.stringify({ ...stand, chat_template: config.chat_template }),
    };
    const tokenizer = new Tokenizer(parseTokenizerFiles(texts, 'qwen3'));
    const lines = (await readFile(testData('qwen3/chat_template_golden.jsonl'), 'utf8')).trim().split('\n');
    for (const golden of lines.map((line) => JSON.parse(line) as GoldenChat)) {
      const variables =
        golden.enable_thinking === undefined ? {} : { enable_thinking: golden.enable_thinking };
      expect(
        tokenizer.renderChat(golden.messages, {
          addGenerationPrompt: golden.add_generation_prompt,
          variables,
        }),
      ).toBe(golden.rendered);
    }
  });
});

describe('characters', () => {
  test('one id per character, in the order of the alphabet, after the special tokens', () => {
    const tokenizer = new Tokenizer(charactersTokenizerFiles('0123456789,: \n😀'));
    expect(tokenizer.encode('10,:9')).toEqual([5, 4, 14, 15, 13]);
    expect(tokenizer.encode('1\n\n 😀')).toEqual([5, 17, 17, 16, 18]);
    expect([tokenizer.eosId, tokenizer.padId, tokenizer.bosId, tokenizer.vocabSize]).toEqual([
      1,
      2,
      undefined,
      19,
    ]);
    expect(tokenizer.decode([5, 14, 16, 14, 1])).toBe('1, ,');
    expect(tokenizer.decode([5, 1], { keepSpecial: true })).toBe('1<eos>');
    expect(tokenizer.encode('x')).toEqual([3]);
  });

  test('a prompt is a prefix of its completed chat', () => {
    const tokenizer = new Tokenizer(charactersTokenizerFiles('0123456789,:'));
    const user = { role: 'user', content: '1,2:9' };
    const prompt = tokenizer.encodeChat([user], { addGenerationPrompt: true });
    const chat = tokenizer.encodeChat([user, { role: 'assistant', content: '3' }], {
      addGenerationPrompt: false,
    });
    expect(chat).toEqual([...prompt, 7, 1]);
  });

  test('an alphabet with nothing in it, or with a repetition, is refused', () => {
    expect(() => charactersTokenizer('')).toThrow(/alphabet is empty/);
    expect(() => charactersTokenizer('aba')).toThrow(/holds "a" twice/);
  });
});

describe('files', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-tokenizer-'));
    const { tokenizer, config } = charactersTokenizer('ab');
    await writeFile(join(dir, 'tokenizer.json'), tokenizer);
    await writeFile(join(dir, 'tokenizer_config.json'), config);
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('written files load, and chat_template.jinja wins over the configuration', async () => {
    expect((await Tokenizer.load(dir)).encode('ba')).toEqual([5, 4]);
    await writeFile(join(dir, 'chat_template.jinja'), "{{ messages[0]['content'] }}{{ eos_token }}");
    const tokenizer = await Tokenizer.load(dir);
    expect(tokenizer.renderChat([{ role: 'user', content: 'a' }], { addGenerationPrompt: false })).toBe(
      'a<eos>',
    );
  });

  test.each(['tokenizer.json', 'tokenizer_config.json'])('%s missing or not JSON is named', async (name) => {
    await writeFile(join(dir, name), '{"model":');
    await expect(Tokenizer.load(dir)).rejects.toThrow(new RegExp(`${name}: not JSON`));
    await rm(join(dir, name));
    await expect(Tokenizer.load(dir)).rejects.toThrow(
      new RegExp(`${name}: cannot read the tokenizer.*ENOENT`),
    );
  });

  test('an unknown tokenizer model, an unknown special token and a broken template are named', async () => {
    const { tokenizer, config } = charactersTokenizer('ab');
    const unknown = { ...(JSON.parse(tokenizer) as object), model: { type: 'Telepathy' } };
    const parse = (texts: { tokenizer: string; config: string }): Tokenizer =>
      new Tokenizer(parseTokenizerFiles(texts, 'there'));
    expect(() => parse({ tokenizer: JSON.stringify(unknown), config })).toThrow(
      /there\/tokenizer\.json: unknown or malformed tokenizer/,
    );
    const settings = JSON.parse(config) as object;
    expect(() => parse({ tokenizer, config: JSON.stringify({ ...settings, eos_token: '</s>' }) })).toThrow(
      /there: eos_token "<\/s>" is not in the vocabulary/,
    );
    expect(() =>
      parse({ tokenizer, config: JSON.stringify({ ...settings, chat_template: '{% if' }) }),
    ).toThrow(/there: malformed chat template/);
    const plain = parse({ tokenizer, config: JSON.stringify({ ...settings, chat_template: null }) });
    expect(plain.hasChatTemplate).toBe(false);
    expect(() => plain.renderChat([], { addGenerationPrompt: true })).toThrow(
      /there: the model has no chat template/,
    );
  });
});
