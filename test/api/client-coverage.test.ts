// Every route of the service has a call of the client, or a reason why not: a new route without one fails here.
import { expect, test } from 'vitest';
import { createClient } from '../../api/client.ts';
import type { OpenApi } from './openapi/document.ts';
import { operationsOf } from './openapi/document.ts';
import { useApi } from './support.ts';

const api = useApi();

const theirs = 'OpenAI’s dialect, for which there are OpenAI’s own clients';

/** Operations without a call, and why. */
const without: Readonly<Record<string, string>> = {
  getHealth: 'for probes, which have no key',
  getReadiness: 'for probes, which have no key',
  getMetrics: 'for Prometheus, which has a token of its own',
  getOpenApi: 'for programs that make clients of other languages',
  createChatCompletion: theirs,
  listModels: theirs,
  getModel: theirs,
  createFile: theirs,
  listFiles: theirs,
  getFile: theirs,
  deleteFile: theirs,
  getFileContent: theirs,
  createFineTuningJob: theirs,
  listFineTuningJobs: theirs,
  getFineTuningJob: theirs,
  cancelFineTuningJob: theirs,
  pauseFineTuningJob: theirs,
  resumeFineTuningJob: theirs,
  listFineTuningEvents: theirs,
  listFineTuningCheckpoints: theirs,
};

type Calls = Readonly<Record<string, unknown>>;

/** What each call of the client asks for: method and path. */
async function asked(): Promise<string[]> {
  const seen: string[] = [];
  const client = createClient({
    url: 'http://millrace.test',
    key: 'k',
    tries: 1,
    fetch: (url, init) => {
      seen.push(`${init?.method?.toLowerCase()} ${new URL(url as string).pathname}`);
      return Promise.resolve(new Response('{"status":404}', { status: 404 }));
    },
  });
  const call = async (calls: Calls): Promise<void> => {
    for (const [name, one] of Object.entries(calls)) {
      if (typeof one === 'object') await call(one as Calls);
      if (typeof one !== 'function' || name === 'all') continue;
      const result = (one as (...args: unknown[]) => unknown)('one', 'two', {});
      const isStream = typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
      await (isStream ? (result as AsyncGenerator).next() : (result as Promise<unknown>)).catch(
        () => undefined,
      );
    }
  };
  await call(client as unknown as Calls);
  return seen;
}

test('every operation has a call of the client, or a reason why not', async () => {
  const document = (await (await api.request('GET', '/openapi.json')).json()) as OpenApi;
  const paths = await asked();
  const operations = operationsOf(document);
  const called = operations.filter(({ method, path }) => {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '(one|two)')}$`);
    return paths.some((one) => pattern.test(one));
  });
  const names = (list: typeof operations): string[] =>
    list.map(({ operation }) => operation.operationId).sort();
  expect(names(called)).toEqual(names(operations).filter((id) => !(id in without)));
  // Reasons of operations that are gone, or that have a call by now.
  expect(Object.keys(without).filter((id) => !names(operations).includes(id))).toEqual([]);
});
