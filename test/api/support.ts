// An API on a real database and a real store, with a key of each scope, and short forms for calls: the app itself, or
// one over HTTP where MILLRACE_API_TARGET says so. A test that needs a running attempt gets one by the protocol itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { App, AppOptions } from '../../api/app.ts';
import { createApp } from '../../api/app.ts';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { Scope } from '../../api/contract/keys.ts';
import type { HintSource } from '../../api/events/hints.ts';
import { createHints } from '../../api/events/hints.ts';
import type { Claim } from '../../api/contract/runner.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { createKey } from '../../db/keys.ts';
import { ensureProject } from '../../db/projects.ts';
import { filesystemStore } from '../../store/filesystem.ts';
import type { ObjectStore } from '../../store/store.ts';
import { apiTarget, startRemoteApi } from '../support/api-target.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { useDatabase } from '../support/postgres.ts';

export interface Fixture {
  readonly database: TestDatabase;
  /** On the target `app` only. */
  readonly app: App;
  readonly store: ObjectStore;
  /** Heard on the target `app` only: others poll. */
  readonly hints: HintSource;
  readonly stopping: AbortController;
  readonly keys: Readonly<Record<Scope, string>>;
  /** An admin key of another project. */
  readonly strangerKey: string;
  request(
    method: string,
    path: string,
    init?: RequestInit & { key?: string | null; json?: unknown },
  ): Promise<Response>;
  client(key?: string): Client;
}

/** Why a test is of the app in this process alone, or false: for `test.skipIf(overHttp)`. */
export const overHttp: string | false =
  apiTarget === 'app' ? false : 'it looks into the process, or sets limits that have no setting';

export const url = 'http://millrace.test';

/** Tests send without pause; those of the limits say which. */
const unhurried = { requestsPerMinute: 1e9, requestBurst: 1e9 };

/** Filled in before the first test of the file. */
export function useApi(
  options: Partial<
    Pick<AppOptions, 'addressOf' | 'allowPrivateAddresses' | 'limits' | 'timing' | 'log' | 'now'>
  > = {},
): Fixture {
  const database = useDatabase();
  const fixture = { database } as { -readonly [K in keyof Fixture]: Fixture[K] };
  let send: (path: string, init: RequestInit) => Promise<Response>;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    fixture.hints = createHints();
    fixture.stopping = new AbortController();
    if (apiTarget === 'app') {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-test-api-'));
      stop = () => rm(folder, { recursive: true, force: true });
      fixture.store = filesystemStore(folder);
      const { store, hints, stopping } = fixture;
      const app = createApp({
        db: database.db,
        store,
        hints,
        stopping: stopping.signal,
        ...options,
        limits: { ...unhurried, ...options.limits },
      });
      fixture.app = app;
      send = async (path, init) => app.request(path, init);
    } else {
      const remote = await startRemoteApi(database.url, {
        ...options,
        limits: { ...unhurried, ...options.limits },
      });
      stop = remote.stop;
      fixture.store = remote.store;
      send = (path, init) => fetch(remote.url + path, { redirect: 'manual', ...init });
    }
    const projectId = await ensureProject(database.db, 'ours');
    const key = async (scope: Scope, project = projectId): Promise<string> =>
      (await createKey(database.db, { projectId: project, name: scope, scopes: [scope] })).secret;
    fixture.keys = {
      operator: await key('operator'),
      admin: await key('admin'),
      submit: await key('submit'),
      read: await key('read'),
      runner: await key('runner'),
      shared_runner: await key('shared_runner'),
    };
    fixture.strangerKey = await key('admin', await ensureProject(database.db, 'theirs'));
    fixture.request = async (method, path, { key: given, json, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (given !== null) headers.set('authorization', `Bearer ${given ?? fixture.keys.admin}`);
      if (json !== undefined) headers.set('content-type', 'application/json');
      const body = json === undefined ? init.body : JSON.stringify(json);
      return send(path, {
        ...init,
        method,
        headers,
        ...(body !== undefined && { body }),
      } as RequestInit);
    };
    fixture.client = (given) =>
      createClient({
        url,
        key: given ?? fixture.keys.admin,
        pauseMs: 1,
        fetch: (input, init) => send((input as string).slice(url.length), init ?? {}),
      });
  });
  afterAll(() => stop());
  return fixture;
}

export const mathRows = '{"prompt":"1+1=","answer":"2"}\n{"prompt":"2+2=","answer":4}\n';
export const sftRows =
  '{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}\n';

/** A small spec that is valid once datasets `math` and `sft` are registered. */
export const spec = (changes: Record<string, unknown> = {}): JobSpecInput =>
  ({
    type: 'cascade',
    name: 'small',
    model: {
      init: {
        from: 'config',
        config: { hidden_size: 16, intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 },
        tokenizer: { type: 'characters', alphabet: '0123456789+=' },
      },
    },
    stages: [
      { kind: 'sft', data: 'sft', steps: 2 },
      { kind: 'math', data: 'math', steps: 2, max_response: 8, grader: { type: 'exact' } },
    ],
    evaluate: { suites: [{ name: 'sums', data: 'math', grader: { type: 'exact' } }] },
    ...changes,
  }) as JobSpecInput;

export async function registerDatasets(client: Client): Promise<void> {
  await client.createDataset({ name: 'math', kind: 'math', grader: '{"type":"exact"}' }, mathRows);
  await client.createDataset({ name: 'sft', kind: 'sft' }, sftRows);
}

/** Registers a runner and claims; the queue must hold a job for it. */
export async function claimOne(
  client: Client,
  name = 'runner-1',
): Promise<{ runner: string; claim: Claim; fence: Fenced }> {
  const { runner } = await client.runner.register({
    protocol: 1,
    name,
    accelerator: 'cpu',
    memory_gb: 8,
    labels: {},
    version: 'test',
  });
  const { claim } = await client.runner.claim({ runner });
  if (claim === null) throw new Error('nothing to claim');
  return { runner, claim, fence: { runner, job: claim.job, attempt: claim.attempt } };
}

export interface Fenced {
  runner: string;
  job: string;
  attempt: number;
}
