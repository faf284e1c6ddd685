// The detail of a problem: the first fault in words, at its place, with what to do where there is a usual mistake.
import { describe, expect, test } from 'vitest';
import { problem } from '../../api/contract/problem.ts';
import { spec, useApi } from './support.ts';

const api = useApi();

describe('the detail of a problem', () => {
  const words: [what: string, path: string, init: Parameters<typeof api.request>[2], detail: RegExp][] = [
    ['the whole body', '/v1/jobs', { json: null }, /^the body: Invalid input: expected object/],
    [
      'a body nested too deep',
      '/v1/jobs',
      { json: JSON.parse('['.repeat(200) + ']'.repeat(200)) },
      /^the body: the JSON is nested deeper/,
    ],
    [
      'a file in place of a dataset',
      '/v1/jobs',
      { json: spec({ stages: [{ kind: 'sft', data: 'file:rows.jsonl', steps: 1 }] }) },
      /^\/stages\/0\/data: "file:rows.jsonl": files are for millrace submit/,
    ],
    [
      'rows whose line breaks were lost',
      '/v1/datasets?name=flat&kind=math',
      { body: '{"prompt":"a","answer":"b"}{"prompt":"c","answer":"d"}' },
      /^line 1 of the body .* --data-binary, not -d$/,
    ],
  ];
  test.each(words)('the detail names %s', async (_what, path, init, detail) => {
    const body = problem.parse(await (await api.request('POST', path, init)).json());
    expect(body.detail).toMatch(detail);
  });
});
