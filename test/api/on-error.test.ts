// Which failure of the database becomes which answer.
import { expect, test } from 'vitest';
import { classify } from '../../api/on-error.ts';

const failed = (code: string): Error =>
  new Error('the query failed', { cause: Object.assign(new Error('what the server says'), { code }) });

test.each([
  ['ECONNREFUSED', 'the database cannot be reached: try again in a moment'],
  ['53300', 'the database cannot be reached: try again in a moment'],
  ['53100', 'the database has no space left on its disk: free some'],
])('%s: %s', (code, detail) => {
  expect(classify(failed(code))).toMatchObject({ code: 'database_unavailable', message: detail });
});
