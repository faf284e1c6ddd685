// Stop strings on decoded text, token by token, on a small alphabet of pieces and on the real Qwen3 vocabulary.
import { describe, expect, test } from 'vitest';
import { StopStrings } from '../../../runner/engine/sampler/stop-strings.ts';
import { Tokenizer } from '../../../runner/engine/tokenizer/tokenizer.ts';
import { qwen3TokenizerDir } from '../../support/qwen3-tokenizer.ts';

const pieces = ['a', 'b', '\n', '\n\n', 'ab', 'Obs', 'erv', 'ation:', ' and more'];
const decode = (ids: readonly number[]) => ids.map((id) => pieces[id]!).join('');

/** The index of the token at which a response ends, and by which string. */
function ending(stops: StopStrings, ids: readonly number[]): [number, string] | undefined {
  for (let n = 1; n <= ids.length; n += 1) {
    const stop = stops.completed(ids.slice(0, n));
    if (stop !== undefined) return [n - 1, stop];
  }
  return undefined;
}

describe('matching', () => {
  test.each([
    [['Observation:'], [0, 5, 6, 7, 8], [3, 'Observation:']],
    [['\n\n'], [0, 2, 1, 2, 2], [4, '\n\n']],
    [['\n\n'], [0, 3], [1, '\n\n']],
    [['ba'], [0, 4, 4], [2, 'ba']],
    [['b', 'ab'], [4], [0, 'ab']],
    [['bb'], [0, 1, 0, 1], undefined],
    [[], [0, 1], undefined],
  ] as const)('%j in the tokens %j', (strings, ids, expected) =>
    expect(ending(new StopStrings(strings, decode), ids)).toEqual(expected),
  );

  test('an empty stop string is refused', () =>
    expect(() => new StopStrings(['a', ''], decode)).toThrow(/would end every response/));
});

test('the text ends before its first stop string, or after it', () => {
  const stops = new StopStrings(['bb', 'b'], decode);
  expect([stops.cut('abba'), stops.cut('abba', { keep: true }), stops.cut('aa')]).toEqual(['a', 'abb', 'aa']);
});

test('Qwen3: the same token whether the window or the whole response is decoded, through characters of several tokens', async () => {
  const tokenizer = await Tokenizer.load(qwen3TokenizerDir);
  const decodeQwen = (ids: readonly number[]) => tokenizer.decode(ids, { keepSpecial: true });
  const text = `${'नमस्ते 👩‍👩‍👧 word '.repeat(20)}हैं? done</tool_call><|im_end|> never`;
  const ids = tokenizer.encodeExact(text);
  for (const stop of ['हैं?', '</tool_call>', ' done', '<|im_end|>']) {
    const whole = ids.findIndex((_, i) => decodeQwen(ids.slice(0, i + 1)).includes(stop));
    expect(whole).toBeGreaterThan(0);
    expect(ending(new StopStrings([stop], decodeQwen), ids)).toEqual([whole, stop]);
  }
});
