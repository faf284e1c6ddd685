// Many requests from one seed against a service that listens: every operation of its document in turn, over things of a project
// of its own that is filled again and again, beside another project that nothing may touch or show.
import { Agent } from 'node:http';
import { createKey } from '../../../db/keys.ts';
import { ensureProject } from '../../../db/projects.ts';
import type { Fixture } from '../../api/support.ts';
import type { OpenApi, PlacedOperation } from '../../api/openapi/document.ts';
import { operationsOf } from '../../api/openapi/document.ts';
import type { Ids } from '../../api/openapi/filled.ts';
import { fillService } from '../../api/openapi/filled.ts';
import { bodiesOf } from './bodies.ts';
import { oracleOf } from './oracle.ts';
import { generator, pick } from './random.ts';
import type { FuzzRequest, Target } from './request.ts';
import { requestFor } from './request.ts';
import { send } from './send.ts';

export interface FuzzOptions {
  readonly url: string;
  readonly requests: number;
  readonly seed: number;
}

export interface FuzzResult {
  readonly statuses: Readonly<Record<string, number>>;
  /** Operations that were answered with 2xx at least once. */
  readonly reached: readonly string[];
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

/** What a request may take. */
const limitMs = 10_000;
/** Requests between fresh projects: jobs end, datasets are deleted. */
const refill = 500;
const mostFaults = 25;
export const canary = 'kanarienvogel';

export async function fuzz(api: Fixture, { url, requests, seed }: FuzzOptions): Promise<FuzzResult> {
  const document = (await (await api.request('GET', '/openapi.json')).json()) as OpenApi;
  const theirs = await fillService(api, { mark: canary, key: api.strangerKey });
  const before = await look(api, document, theirs);
  const judge = oracleOf(document, { canary, ids: idsOf(theirs) });
  const operations = operationsOf(document);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: Record<string, number> = {};
  const reached = new Set<string>();
  const faults: string[] = [];
  let slowestMs = 0;
  let target: Target | undefined;
  for (let i = 0; i < requests && faults.length < mostFaults; i++) {
    if (i % refill === 0) target = await freshTarget(api, document, { theirs, number: i / refill });
    const random = generator(seed * 1_000_003 + i);
    const request = requestFor(random, target!, pick(random, operations));
    const fault = await send(url, agent, request, limitMs).then(
      (answer) => {
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        slowestMs = Math.max(slowestMs, answer.ms);
        if (answer.status < 300) reached.add(request.placed.operation.operationId);
        const found = judge(request, answer);
        return found === undefined ? undefined : `${found}; the answer: ${answer.text.slice(0, 600)}`;
      },
      (error: Error) => (request.giant ? undefined : `${error.message}`),
    );
    if (fault === undefined) continue;
    faults.push(`seed ${seed}, request ${i}: ${fault}\n${described(request)}`);
    // At once: a run that is broken off has shown what it found.
    console.error(faults.at(-1));
  }
  agent.destroy();
  if ((await look(api, document, theirs)) !== before) faults.push('the other project is not as it was');
  return { statuses, reached: [...reached].sort(), slowestMs, faults };
}

const described = ({ method, path, headers, body }: FuzzRequest): string =>
  [
    `${method} ${path.slice(0, 500)}`,
    ...headers.map(([name, value]) => `${name}: ${value.slice(0, 200)}`),
    '',
    Buffer.from(body ?? [])
      .toString('utf8')
      .slice(0, 1_500),
  ].join('\n');

const idsOf = ({ of, all }: Ids): string[] => [
  ...Object.values(of).filter((id) => /^(job|ds|ckpt|err|file)_/.test(id)),
  ...Object.values(all).flat(),
];

async function freshTarget(
  api: Fixture,
  document: OpenApi,
  { theirs, number }: { theirs: Ids; number: number },
): Promise<Target> {
  const { db } = api.database;
  const projectId = await ensureProject(db, `fuzzed-${number}`);
  const { secret: key } = await createKey(db, { projectId, name: 'fuzz', scopes: ['admin'] });
  const mark = `fuzzed${number}`;
  const ours = await fillService(api, { mark, key });
  // Now and then a thing of the other project, which must look like none.
  const both = (own: readonly string[], foreign: string): string[] => [...own, ...own, ...own, foreign];
  const names = [`math-${mark}`, `sft-${mark}`, `runner-${mark}`, 'x1'];
  return {
    document,
    key,
    bodies: bodiesOf(ours, mark),
    ids: {
      job: both([...ours.all.jobs, ours.of.jobs], theirs.of.jobs),
      ds: both(ours.all.datasets, theirs.of.datasets),
      ckpt: both([ours.of.checkpoints], theirs.of.checkpoints),
      err: both(ours.all.errands, theirs.of.errands),
      file: both([ours.of.files, ours.of.fine_tuning.replace('job_', 'file_')], theirs.of.files),
      run: both([ours.fence.runner], theirs.fence.runner),
      srv: both([ours.serving], theirs.serving),
      model: [ours.of.checkpoints, ours.of.models, '/models/any'],
      training_file: both([ours.of.files], theirs.of.files),
      validation_file: [ours.of.files],
      data: names.slice(0, 2),
      name: names,
      stage: ['math', 'sft'],
    },
  };
}

/** All that the other project's key sees. */
async function look(api: Fixture, document: OpenApi, { of }: Ids): Promise<string> {
  const seen: string[] = [];
  const routes = operationsOf(document).filter(({ method }: PlacedOperation) => method === 'get');
  for (const { path } of routes) {
    const collection = path.startsWith('/v1/fine_tuning') ? 'fine_tuning' : (path.split('/')[2] ?? '');
    const id = (of as Record<string, string>)[collection] ?? 'none';
    const filled = path.replace('{id}', id).replace('{name}', 'manifest.json').replace('{model}', of.models);
    const response = await api.request('GET', filled, { key: api.strangerKey });
    seen.push(`${path} ${response.status} ${await response.text()}`);
  }
  return seen.join('\n');
}
