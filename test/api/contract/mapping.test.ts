// Foreign rows become ours: what is picked, what is cut out, and what a fault says.
import { expect, test } from 'vitest';
import type { RowMapping } from '../../../api/contract/mapping.ts';
import { mapRow } from '../../../api/contract/mapping.ts';

const math = (changes: Partial<RowMapping> = {}): RowMapping => ({
  kind: 'math',
  fields: {},
  answerFormat: 'plain',
  ...changes,
});
const gsm8k = math({ answerFormat: 'gsm8k' });
const row = { prompt: 'p', answer: 'a' };

test.each<[string, unknown, RowMapping, unknown]>([
  ['fields of the same name, others dropped', { ...row, source: 'x' }, math(), row],
  ['a number as the gold', { prompt: 'p', answer: 145 }, math(), { prompt: 'p', answer: '145' }],
  [
    'chat messages as the prompt',
    { messages: [{ role: 'user', content: 'x' }], answer: 'a' },
    math({ fields: { prompt: 'messages' } }),
    { prompt: [{ role: 'user', content: 'x' }], answer: 'a' },
  ],
  [
    'the last ####',
    { prompt: 'p', answer: '#### 1\nno\n####  1,080 ' },
    gsm8k,
    { prompt: 'p', answer: '1,080' },
  ],
  [
    'a case by a number',
    { ...row, n: 2, b: 'y' },
    math({ fields: { answer: { by: 'n', cases: { '2': 'b' } } } }),
    { prompt: 'p', answer: 'y' },
  ],
  [
    'a case by a truth value',
    { ...row, n: true, b: 'y' },
    math({ fields: { answer: { by: 'n', cases: { true: 'b' } } } }),
    { prompt: 'p', answer: 'y' },
  ],
])('%s', (_what, foreign, mapping, expected) => {
  expect(mapRow(foreign, mapping)).toEqual({ row: expected });
});

test.each<[string, unknown, RowMapping, string, RegExp]>([
  ['no object', [], math(), '', /object/],
  ['null', null, math(), '', /object/],
  ['a missing column', { prompt: 'p' }, math(), '/answer', /no column "answer", only "prompt": .*`fields`/],
  ['a missing mapped column', row, math({ fields: { prompt: 'q' } }), '/prompt', /no column "q"/],
  [
    'a column that only objects inherit',
    row,
    math({ fields: { prompt: 'toString' } }),
    '/prompt',
    /no column/,
  ],
  [
    'a missing column of choice',
    row,
    math({ fields: { answer: { by: 'n', cases: { a: 'b' } } } }),
    '/answer',
    /no column "n"/,
  ],
  [
    'a value without a case',
    { ...row, n: 3 },
    math({ fields: { answer: { by: 'n', cases: { '1': 'b', '2': 'c' } } } }),
    '/answer',
    /no case .* "1, 2"/,
  ],
  [
    'an object as the choice',
    { ...row, n: {} },
    math({ fields: { answer: { by: 'n', cases: { '[object Object]': 'prompt' } } } }),
    '/answer',
    /no case/,
  ],
  ['no ####', row, gsm8k, '/answer', /####/],
  ['nothing after ####', { prompt: 'p', answer: '#### ' }, gsm8k, '/answer', /./],
  ['an empty prompt', { prompt: '', answer: 'a' }, math(), '/prompt', /./],
  ['a wrong role', { prompt: [{ role: 'robot', content: 'x' }], answer: 'a' }, math(), '/prompt/0/role', /./],
])('a fault: %s', (_what, foreign, mapping, pointer, message) => {
  expect(mapRow(foreign, mapping)).toEqual({
    faults: [{ pointer, message: expect.stringMatching(message) }],
  });
});

test('sft rows must end with what is learnt', () => {
  const messages = [
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'b' },
  ];
  expect(mapRow({ messages }, { kind: 'sft', fields: {}, answerFormat: 'plain' })).toEqual({
    faults: [{ pointer: '/messages', message: expect.stringContaining('last message') }],
  });
});
