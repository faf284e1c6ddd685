// Text on its way to a client: whatever the cuts, the pieces joined are what a whole decoding gives, no piece holds part of a
// character, of a stop string or of a thinking tag.
import { beforeAll, describe, expect, it } from 'vitest';
import { splitThinking } from '../../runner/engine/tokenizer/thinking.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import { StopStrings } from '../../runner/engine/sampler/stop-strings.ts';
import { AnswerText } from '../../runner/serve/answer-text.ts';
import { StopFilter } from '../../runner/serve/stop-filter.ts';
import { TextStream } from '../../runner/serve/text-stream.ts';
import { ThinkingSplit } from '../../runner/serve/thinking-split.ts';
import { qwen3TokenizerDir } from '../support/qwen3-tokenizer.ts';

/** A small generator of numbers in [0, 1), seeded. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `text` in pieces of one to four characters. */
function pieces(text: string, next: () => number): string[] {
  const cut: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + Math.floor(next() * 4);
    cut.push(text.slice(at, at + length));
    at += length;
  }
  return cut;
}

describe('TextStream', () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await Tokenizer.load(qwen3TokenizerDir);
  });

  it.each([
    'plain words, and  two spaces\n\n  indented',
    '👩‍👩‍👧‍👦 🏳️‍🌈 한국어 漢字 मराठी ŝ ﷽ 𝔘𝔫𝔦',
    'a\u{1F9D1}\u{200D}\u{1F680}b'.repeat(30),
    'ends with the model’s own replacement \uFFFD',
  ])('gives %j back in whole characters', (text) => {
    const ids = tokenizer.encodeExact(text);
    const stream = new TextStream((window) => tokenizer.decode(window));
    const given = ids.map((id) => stream.push(id));
    const own = text.includes('\uFFFD');
    if (!own) expect(given.filter((piece) => piece.includes('\uFFFD'))).toEqual([]);
    expect(given.every((piece) => piece.isWellFormed())).toBe(true);
    expect(given.join('') + stream.end()).toBe(text);
  });

  it('decodes a few tokens at a time, also where they make no characters', () => {
    const firstBytes = [...'𝔘é한'].map((character) => tokenizer.encodeExact(character)[0]!);
    const halves = firstBytes.filter((id) => tokenizer.decode([id]).includes('\uFFFD'));
    expect(halves.length).toBeGreaterThan(0);
    const last = tokenizer.encodeExact('𝔘').at(-1)!;
    for (const cycle of [[halves[0]!], halves, [last], [...halves, ...tokenizer.encodeExact('a 𝔘')]]) {
      const ids = Array.from({ length: 400 }, (_, i) => cycle[i % cycle.length]!);
      let most = 0;
      const stream = new TextStream((window) => {
        most = Math.max(most, window.length);
        return tokenizer.decode(window);
      });
      expect(ids.map((id) => stream.push(id)).join('') + stream.end()).toBe(tokenizer.decode(ids));
      expect(most).toBeLessThan(40);
    }
  });

  it('gives half a character out only when nothing follows', () => {
    const ids = tokenizer.encodeExact('𝔘').slice(0, -1);
    const stream = new TextStream((window) => tokenizer.decode(window));
    expect(ids.map((id) => stream.push(id)).join('')).toBe('');
    expect(stream.end()).toMatch(/^\uFFFD+$/);
  });

  it('decodes few tokens at a time, however long the answer', () => {
    const ids = tokenizer.encodeExact('the quick brown fox jumps over the lazy dog. '.repeat(40));
    let most = 0;
    const stream = new TextStream((window) => {
      most = Math.max(most, window.length);
      return tokenizer.decode(window);
    });
    for (const id of ids) stream.push(id);
    expect(most).toBeLessThan(40);
  });
});

describe('StopFilter', () => {
  it('cuts where StopStrings cuts the whole text, and gives nothing out that a stop string may reach', () => {
    const next = numbers(1);
    const random = (length: number) => Array.from({ length }, () => 'abc'[Math.floor(next() * 3)]).join('');
    for (let round = 0; round < 2_000; round += 1) {
      const text = random(Math.floor(next() * 30));
      const stops = Array.from({ length: Math.floor(next() * 3) }, () => random(1 + Math.floor(next() * 4)));
      const expected = new StopStrings(stops, () => '').cut(text);
      const filter = new StopFilter(stops);
      let given = '';
      for (const piece of pieces(text, next)) {
        given += filter.push(piece);
        expect(expected.startsWith(given)).toBe(true);
      }
      expect(filter.stopped).toBe(expected !== text);
      expect(given + filter.end()).toBe(expected);
    }
  });
});

describe('ThinkingSplit', () => {
  const responses = [
    'no thinking at all',
    ' leading space stays',
    '<think>\nI wonder.\n</think>\n\nYes.',
    '\n<think>never closed  ',
    '<think></think>',
    '<think>a</think>\n\n<think>b</think>',
    'before <think>is no block</think>',
    'inside at once</think>\n\n 4',
    '<thin',
    '  ',
    '',
    'a </thin b </think> c </think> d',
  ];
  it.each(responses.flatMap((response) => [false, true].map((opened) => ({ response, opened }))))(
    'splits $response, opened: $opened, as the whole text is split',
    ({ response, opened }) => {
      const { thinking = '', answer = '' } = splitThinking(response, opened);
      const next = numbers(7);
      for (let round = 0; round < 30; round += 1) {
        const split = new ThinkingSplit(opened);
        const given = [...pieces(response, next).map((piece) => split.push(piece)), split.end()];
        expect(given.map((part) => part.thinking).join('')).toBe(thinking);
        expect(given.map((part) => part.answer).join('')).toBe(answer);
      }
    },
  );
});

describe('AnswerText', () => {
  it('looks for stop strings in the answer, not in the thinking', () => {
    const text = '<think>STOP is a word</think>\n\nx STOP y';
    const bytes = [...text].map((character) => character.codePointAt(0)!);
    const answer = new AnswerText((ids) => String.fromCodePoint(...ids), { opened: false, stop: ['STOP'] });
    const given = [];
    for (const byte of bytes) {
      given.push(answer.push(byte));
      if (answer.stopped) break;
    }
    given.push(answer.end());
    expect(given.map((part) => part.thinking).join('')).toBe('STOP is a word');
    expect(given.map((part) => part.answer).join('')).toBe('x ');
  });
});
