// The log of a real API process in which secrets were planted everywhere a client can put them: none is in it, also where the
// database fails in the middle, whose errors hold the values of statements.
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { createLog, errorForLog } from '../../api/log.ts';
import { connect } from '../../db/connect.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
const planted = 'planted-secret-5f1c';
beforeAll(() => registerDatasets(api.client()));

function logged() {
  const lines: string[] = [];
  return { lines, log: createLog('trace', { write: (line) => void lines.push(line) }) };
}

describe('the log', () => {
  test('of a run with secrets in it holds none, and says which request and which job', async () => {
    const { lines, log } = logged();
    const app = createApp({ db: api.database.db, store: api.store, log });
    const headers = {
      authorization: `Bearer ${api.keys.admin}`,
      'x-request-id': 'r-7',
      'content-type': 'application/json',
    };
    const send = (method: string, path: string, body?: unknown) =>
      app.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    await app.request('/v1/jobs', { headers: { authorization: `Bearer ${planted}` } });
    const job = (await (await send('POST', '/v1/jobs', spec({ labels: { note: planted } }))).json()) as {
      id: string;
    };
    await send('POST', '/v1/jobs', { ...spec(), [planted]: 1 });
    await send('GET', `/v1/jobs/${job.id}?token=${planted}`);
    await claimOne(api.client());
    const text = lines.join('');
    expect(text).not.toContain(planted);
    expect(text).not.toContain(api.keys.admin);
    const lineOf = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ path }) => path === `/v1/jobs/${job.id}`);
    expect(lineOf).toMatchObject({ request: 'r-7', job: job.id, status: 200 });
  });

  test('of statements that fail holds their text and not their values', async () => {
    const { lines, log } = logged();
    const away = connect('postgres://nobody:planted-secret-5f1c@127.0.0.1:1/none', 1);
    const app = createApp({ db: away.db, store: api.store, log });
    await app.request('/v1/jobs', { headers: { authorization: `Bearer ${planted}` } });
    await away.close();
    const text = lines.join('');
    expect(text).toContain('Failed query');
    expect(text).toContain('ECONNREFUSED');
    expect(text).not.toMatch(/params|planted/);

    const failed = await api.database.db
      .execute(`insert into api_keys (id, name) values ('${1}', null) returning name`)
      .catch((error: unknown) => error);
    expect(JSON.stringify(errorForLog(failed))).toContain('23502');
  });
});
