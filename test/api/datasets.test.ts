// Registering datasets: every form of body, mapping of foreign columns, broken rows named, one dataset for one name.
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import type { Dataset } from '../../api/contract/dataset.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';
import { mathRows, overHttp, useApi } from './support.ts';

const api = useApi({
  limits: {
    datasetLineBytes: 2_000,
    datasetArrayBytes: 3_000,
    datasetBytes: 2_000_000,
    datasetUnpackedBytes: 4_000_000,
  },
});

/** Rows that are ready at once: gold equals itself. */
const exact = '{"type":"exact"}';
const upload = (
  query: Record<string, string>,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
) =>
  api.request(
    'POST',
    `/v1/datasets?${new URLSearchParams({ kind: 'math', grader: exact, ...query }).toString()}`,
    {
      body: body as BodyInit,
      headers,
    },
  );
const datasetOf = async (response: Response): Promise<Dataset> => (await response.json()) as Dataset;
const problemOf = async (response: Response): Promise<Problem> => (await response.json()) as Problem;

async function storedRows({ id }: Dataset): Promise<unknown[]> {
  const content = await text(await api.store.get(`datasets/${id}/rows.jsonl`));
  return content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

const rows = [
  { prompt: '1+1=', answer: '2' },
  { prompt: '2+2=', answer: '4' },
];

describe('forms of the body', () => {
  const jsonl = mathRows;
  const forms: [string, string | Uint8Array, Record<string, string>][] = [
    ['JSONL', jsonl, {}],
    [
      'JSONL with a mark, CR LF, blank lines and no end',
      `\uFEFF${jsonl.trimEnd().replace('\n', '\r\n\r\n')}`,
      {},
    ],
    ['a JSON array', JSON.stringify(rows, null, 2), {}],
    ['a JSON array on one line', JSON.stringify(rows), {}],
    ['gzip by its content-encoding', gzipSync(jsonl), { 'content-encoding': 'gzip' }],
    ['gzip by its first bytes', gzipSync(jsonl), {}],
    ['a gzipped array', gzipSync(JSON.stringify(rows)), {}],
  ];
  test.each(forms)('%s', async (form, body, headers) => {
    const response = await upload({ name: form.replaceAll(/[^a-z]/gi, '-') }, body, headers);
    expect(response.status).toBe(201);
    const dataset = await datasetOf(response);
    expect(response.headers.get('location')).toBe(`/v1/datasets/${dataset.id}`);
    expect(dataset).toMatchObject({
      state: 'ready',
      kind: 'math',
      rows: 2,
      report: { rows: 2, broken: 0, issues: [] },
    });
    expect(await storedRows(dataset)).toEqual(rows);
    expect((await api.store.head(`datasets/${dataset.id}/rows.jsonl`))?.size).toBe(dataset.size);
    expect(await datasetOf(await api.request('GET', `/v1/datasets/${dataset.id}`))).toEqual(dataset);
  });

  const unreadable: [string, string | Uint8Array, number, RegExp, Record<string, string>?][] = [
    ['nothing', '', 422, /no rows/],
    ['blank lines', '\n \n', 422, /no rows/],
    ['an empty array', '[]', 422, /no rows/],
    ['a line that is not JSON', `${mathRows}{"prompt":\n`, 422, /line 3/],
    ['an array that does not end', '[{"prompt":"1","answer":"2"}', 422, /JSON array/],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from(mathRows), Buffer.from([0x22, 0xff, 0x22])]),
      422,
      /line 3/,
    ],
    ['broken gzip', gzipSync(mathRows).subarray(0, 40), 422, /gzip/],
    ['no gzip though it says so', mathRows, 422, /gzip/, { 'content-encoding': 'gzip' }],
    ['an unknown coding', mathRows, 400, /content-encoding/, { 'content-encoding': 'br' }],
    ['a line that is too long', `{"prompt":"${'x'.repeat(3000)}"}`, 413, /line 1/],
    ['an array that is too long', `[${'{"prompt":"1","answer":"2"},'.repeat(200)}]`, 413, /bytes|characters/],
    [
      'an array that is too long, on lines',
      `[\n${'{"prompt":"1","answer":"2"},\n'.repeat(200)}]`,
      413,
      /JSONL/,
    ],
    ['too many bytes', `${mathRows.repeat(40_000)}`, 413, /2000000 bytes/],
    ['a small body that unfolds to too many', gzipSync(mathRows.repeat(80_000)), 413, /unzipped/],
  ];
  test.for(unreadable)('%s is refused', async ([, body, status, detail, headers], { skip }) => {
    if (overHttp && status === 413) skip(overHttp);
    const response = await upload({ name: 'unreadable' }, body, headers);
    const problem = await problemOf(response);
    expect([response.status, problem.detail]).toEqual([status, expect.stringMatching(detail)]);
    expect((await api.client().datasets()).data.some((one) => one.name === 'unreadable')).toBe(false);
  });
});

test.skipIf(overHttp)('without room for the upload the answer says so, and where', async () => {
  vi.stubEnv('TMPDIR', '/nonexistent/millrace');
  const response = await upload({ name: 'no-room' }, mathRows).finally(() => vi.unstubAllEnvs());
  const problem = await problemOf(response);
  expect([response.status, problem.code]).toEqual([503, 'store_unavailable']);
  expect(problem.detail).toContain('/nonexistent/millrace');
});

describe('mapping', () => {
  const foreign = '{"q":"which","label":"1","output_1":"left","output_2":"right","answer":"#### 9"}';
  test('columns under other names, chosen by another column, the rest under their own', async () => {
    const fields = JSON.stringify({
      prompt: 'q',
      answer: { by: 'label', cases: { '1': 'output_1', '2': 'output_2' } },
    });
    expect(await storedRows(await datasetOf(await upload({ name: 'chosen', fields }, foreign)))).toEqual([
      { prompt: 'which', answer: 'left' },
    ]);
    const own = await upload(
      { name: 'own', fields: JSON.stringify({ prompt: 'q' }), answer_format: 'gsm8k' },
      foreign,
    );
    expect(await storedRows(await datasetOf(own))).toEqual([{ prompt: 'which', answer: '9' }]);
  });

  test.each([
    ['not JSON', '{', '/fields'],
    ['no object', '[1]', '/fields'],
    ['a field that rows have not', '{"promt":"q"}', '/fields/promt'],
    ['a source of the wrong form', '{"prompt":{"by":"x"}}', '/fields/prompt/cases'],
  ])('fields that are %s are refused with their place', async (_what, fields, pointer) => {
    const response = await upload({ name: 'x', fields }, foreign);
    const problem = await problemOf(response);
    expect([response.status, problem.code, problem.issues?.[0]?.pointer]).toEqual([
      400,
      'invalid_query',
      pointer,
    ]);
  });
});

describe('broken rows', () => {
  test('are named with row, place and message; the first 100', async () => {
    const lines = [
      '{"prompt":"ok","answer":"1"}',
      '{"prompt":7,"answer":"1"}',
      '{"prompt":"x"}',
      '"text"',
      '{"prompt":"nul\\u0000","answer":"\\ud800"}',
    ];
    const many = Array.from({ length: 120 }, () => '{}');
    const response = await upload({ name: 'bad' }, [...lines, ...many].join('\n'));
    expect(response.status).toBe(201);
    const dataset = await datasetOf(response);
    expect(dataset).toMatchObject({ state: 'invalid', rows: 125, report: { rows: 125, broken: 124 } });
    expect(dataset.report.issues).toHaveLength(100);
    const places = dataset.report.issues.slice(0, 5).map(({ row, pointer }) => [row, pointer]);
    expect(places).toEqual([
      [1, '/prompt'],
      [2, '/answer'],
      [3, ''],
      [4, '/prompt'],
      [4, '/answer'],
    ]);
    expect(await api.store.head(`datasets/${dataset.id}/rows.jsonl`)).toBeUndefined();
  });

  test('instructions that nobody could check are named by row and place', async () => {
    const lines = [
      { instruction_id_list: ['punctuation:no_comma'], kwargs: [{ num_words: null }] },
      { instruction_id_list: ['punctuation:no_coma'], kwargs: [{}] },
      {
        instruction_id_list: ['length_constraints:number_words'],
        kwargs: [{ relation: 'at most', num_words: 5 }],
      },
      { instruction_id_list: ['length_constraints:number_words'], kwargs: [{ relation: 'at least' }] },
      { instruction_id_list: ['punctuation:no_comma'], kwargs: [{ num_words: 5 }] },
      { instruction_id_list: ['punctuation:no_comma'], kwargs: [] },
    ].map((row) => JSON.stringify({ prompt: 'p', ...row }));
    const response = await api.request('POST', '/v1/datasets?kind=instruction&name=bad-instructions', {
      body: lines.join('\n'),
    });
    const dataset = await datasetOf(response);
    expect(dataset).toMatchObject({ state: 'invalid', report: { rows: 6, broken: 5 } });
    expect(dataset.report.issues).toEqual([
      {
        row: 1,
        pointer: '/instruction_id_list/0',
        message: expect.stringContaining('"punctuation:no_comma"') as string,
      },
      { row: 2, pointer: '/kwargs/0/relation', message: expect.stringContaining('number_words') as string },
      { row: 3, pointer: '/kwargs/0/num_words', message: expect.stringContaining('must be given') as string },
      { row: 4, pointer: '/kwargs/0/num_words', message: expect.stringContaining('takes no') as string },
      { row: 5, pointer: '/kwargs', message: expect.stringContaining('0 records for 1 ids') as string },
    ]);
  });

  test('a row that is nested absurdly deep is broken, not fatal', async () => {
    const deep = `{"prompt":"x","answer":${'['.repeat(900)}${']'.repeat(900)}}`;
    expect(await datasetOf(await upload({ name: 'deep' }, deep))).toMatchObject({
      state: 'invalid',
      report: { broken: 1 },
    });
  });
});

describe('names', () => {
  test('the same rows again are the same dataset, other rows are refused, and a broken one gives its name free', async () => {
    const first = await upload({ name: 'again' }, mathRows);
    const second = await upload({ name: 'again' }, gzipSync(mathRows));
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await datasetOf(second)).toEqual(await datasetOf(first));
    const other = await upload({ name: 'again' }, '{"prompt":"3","answer":"3"}');
    expect([other.status, (await problemOf(other)).code]).toEqual([409, 'conflict']);

    const broken = await datasetOf(await upload({ name: 'mended' }, '{"prompt":"3"}'));
    expect((await upload({ name: 'mended' }, '{"prompt":"3"}')).status).toBe(200);
    const mended = await datasetOf(await upload({ name: 'mended' }, '{"prompt":"3","answer":"3"}'));
    expect([broken.state, mended.state]).toEqual(['invalid', 'ready']);
    expect((await api.request('GET', `/v1/datasets/${broken.id}`)).status).toBe(404);
  });

  test.skipIf(overHttp)('a dataset whose commit went unanswered has its rows', async () => {
    const { db } = api.database;
    const real = db.transaction.bind(db);
    const broken = vi.spyOn(db, 'transaction').mockImplementationOnce(async (work, config) => {
      await real(work, config);
      throw Object.assign(new Error('the connection broke'), { code: 'CONNECTION_CLOSED' });
    });
    const answer = await upload({ name: 'unanswered' }, mathRows);
    broken.mockRestore();
    expect([answer.status, (await problemOf(answer)).code]).toEqual([503, 'database_unavailable']);
    const again = await upload({ name: 'unanswered' }, mathRows);
    expect(again.status).toBe(200);
    expect(await storedRows(await datasetOf(again))).toEqual(rows);
  });

  test('many uploads of one name at once make one dataset and one object', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload({ name: 'race' }, mathRows)));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 200, 201]);
    const ids = new Set(await Promise.all(answers.map(async (answer) => (await datasetOf(answer)).id)));
    expect(ids.size).toBe(1);
    const objects: string[] = [];
    for await (const { key } of api.store.list('datasets/')) objects.push(key);
    const rowsOf = (await api.client().datasets({ limit: 200 })).data
      .filter((one) => one.state === 'ready')
      .map((one) => `datasets/${one.id}/rows.jsonl`);
    expect(objects.sort()).toEqual(rowsOf.sort());
  });

  test('an Idempotency-Key gives the first answer again', async () => {
    const headers = { 'idempotency-key': 'set' };
    const first = await upload({ name: 'keyed' }, mathRows, headers);
    const again = await upload({ name: 'keyed' }, mathRows, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(await datasetOf(again)).toEqual(await datasetOf(first));
    expect((await upload({ name: 'keyed' }, '{"prompt":"3","answer":"3"}', headers)).status).toBe(409);
  });
});

describe.skipIf(testDataDir === undefined)(
  `real files (${testDataDir === undefined ? noTestData : 'shared test data'})`,
  () => {
    const real = useApi();
    const files = [
      {
        path: 'gsm8k/test.jsonl',
        query: { kind: 'math', fields: '{"prompt":"question"}', answer_format: 'gsm8k' },
        rows: 1319,
        first: { answer: '18' },
      },
      {
        path: 'math/math500.jsonl',
        query: { kind: 'math', fields: '{"prompt":"problem"}' },
        rows: 500,
        first: { answer: '\\left( 3, \\frac{\\pi}{2} \\right)' },
      },
      {
        path: 'math/svamp.jsonl',
        query: { kind: 'math', fields: '{"prompt":"Body","answer":"Answer"}' },
        rows: 1000,
        first: { answer: '145' },
      },
      {
        path: 'aime/aime24.jsonl',
        query: { kind: 'math', fields: '{"prompt":"problem"}' },
        rows: 30,
        first: {},
      },
      {
        path: 'ifeval/input_data.jsonl',
        query: { kind: 'instruction' },
        rows: 540,
        first: { kwargs: [{}, { num_highlights: 3 }, { relation: 'at least', num_words: 300 }] },
      },
      {
        path: 'sft/conversations.jsonl',
        query: { kind: 'sft' },
        rows: 128,
        first: {
          messages: [
            { role: 'user', content: 'What is the capital of France?' },
            { role: 'assistant', content: 'The capital of France is Paris.' },
          ],
        },
      },
    ] as const;
    test.each(files)('$path registers as it is', async ({ path, query, rows: count, first }) => {
      const dataset = await real
        .client()
        .createDataset({ ...query, name: path.replaceAll('/', '-') }, readFileSync(testData(path)));
      expect(dataset.report).toMatchObject({ rows: count, broken: 0 });
      const [line] = (await text(await real.store.get(`datasets/${dataset.id}/rows.jsonl`))).split('\n', 1);
      expect(JSON.parse(line ?? '')).toMatchObject(first);
    });
  },
);
