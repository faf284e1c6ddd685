// Every route under /v1/: which scopes it admits, a request about a thing of an owner, and what it answers. A new route needs
// a line here; access.test.ts fails until it has one.
import type { Scope } from '../../api/contract/keys.ts';
import type { Owner } from './owner.ts';
import { commitOf, modelFiles } from './owner.ts';
import { mathRows, spec } from './support.ts';

export interface Call {
  readonly path: string;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export interface AccessCase {
  readonly admits: readonly Scope[];
  readonly request: (owner: Owner) => Promise<Call>;
  /** The answer to a key of the project. */
  readonly own: number;
  /**
   * The answer where the thing is another project’s. `nothing`: the request names no thing, and shows the caller’s own project
   * only.
   */
  readonly foreign:
    'nothing' | '404 not_found' | '404 model_not_found' | '409 lease_lost' | '200 without effect';
  /** An operator may do it in every project. */
  readonly everywhere?: boolean;
  /** A shared runner's key speaks for shared runners only: a project's own are to it as another's. */
  readonly ofOwnRunner?: boolean;
}

type Foreign = AccessCase['foreign'];
type Make = (owner: Owner) => string | Call | Promise<string | Call>;

const line =
  (admits: readonly Scope[], everywhere = false) =>
  (own: number, foreign: Foreign, make: Make): AccessCase => ({
    admits,
    own,
    foreign,
    everywhere,
    async request(owner) {
      const made = await make(owner);
      return typeof made === 'string' ? { path: made } : made;
    },
  });

const reads = line(['admin', 'submit', 'read']);
const submits = line(['admin', 'submit']);
const runs = line(['admin', 'runner', 'shared_runner']);
const runsOwn = (...given: Parameters<typeof runs>): AccessCase => ({ ...runs(...given), ofOwnRunner: true });
const administers = line(['admin']);
const keeps = line(['operator', 'admin'], true);
const operates = line(['operator'], true);

const ofJob =
  (rest: string): Make =>
  (owner) =>
    owner.job().then((id) => `/v1/jobs/${id}${rest}`);
const ofPin: Make = (owner) => owner.checkpoint().then((id) => `/v1/checkpoints/${id}/pin`);
const ofFile =
  (rest: string): Make =>
  (owner) =>
    owner.file().then((id) => `/v1/files/${id}${rest}`);
const ofFineTuned =
  (rest: string): Make =>
  (owner) =>
    owner.fineTuned().then((id) => `/v1/fine_tuning/jobs/${id}${rest}`);
const ofWebhook =
  (rest: string): Make =>
  (owner) =>
    owner.webhook().then((id) => `/v1/webhooks/${id}${rest}`);
const part = (head: string, text: string): string =>
  `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
const fileForm = {
  body: `${part('name="purpose"', 'fine-tune')}${part('name="file"; filename="a.jsonl"', '{}')}--x--\r\n`,
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
};
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] });
const protocol = { protocol: 1, accelerator: 'cpu', memory_gb: 1, version: '1' };
const gradeItems = [{ task: { prompt: 'p', answer: '1' }, response: '1' }];
const held =
  (
    path: string,
    rest: (fence: { job: string; runner: string; attempt: number }) => object = () => ({}),
  ): Make =>
  async (owner) => {
    const fence = await owner.held();
    return { path: `/v1/runner/${path}`, json: { ...fence, ...rest(fence) } };
  };
const heldErrand =
  (path: string, rest: object = {}): Make =>
  async (owner) => ({ path: `/v1/runner/errands/${path}`, json: { ...(await owner.heldErrand()), ...rest } });

let names = 0;
const fresh = (): string => `fresh-${++names}`;

export const cases: Readonly<Record<string, AccessCase>> = {
  'POST /v1/jobs': submits(201, 'nothing', () => ({ path: '/v1/jobs', json: spec() })),
  'GET /v1/jobs': reads(200, 'nothing', () => '/v1/jobs?limit=200'),
  'GET /v1/jobs/{id}': reads(200, '404 not_found', ofJob('')),
  'POST /v1/jobs/{id}/cancel': submits(200, '404 not_found', ofJob('/cancel')),
  'POST /v1/jobs/{id}/pause': submits(200, '404 not_found', ofJob('/pause')),
  'POST /v1/jobs/{id}/resume': submits(200, '404 not_found', (owner) =>
    owner.pausedJob().then((id) => `/v1/jobs/${id}/resume`),
  ),
  'POST /v1/jobs/{id}/retry': submits(201, '404 not_found', (owner) =>
    owner.endedJob().then((id) => `/v1/jobs/${id}/retry`),
  ),
  // None of its stages has an end yet.
  'POST /v1/jobs/{id}/fork': submits(422, '404 not_found', async (owner) => ({
    path: `/v1/jobs/${await owner.endedJob()}/fork`,
    json: { stage: 'math' },
  })),
  'DELETE /v1/jobs/{id}': submits(204, '404 not_found', (owner) =>
    owner.endedJob().then((id) => `/v1/jobs/${id}`),
  ),
  'GET /v1/jobs/{id}/events': reads(200, '404 not_found', ofJob('/events')),
  'GET /v1/jobs/{id}/metrics': reads(200, '404 not_found', ofJob('/metrics')),
  'GET /v1/jobs/{id}/evaluations': reads(200, '404 not_found', ofJob('/evaluations')),
  'GET /v1/jobs/{id}/samples': reads(200, '404 not_found', ofJob('/samples')),
  'GET /v1/jobs/{id}/logs': reads(200, '404 not_found', ofJob('/logs')),
  'GET /v1/jobs/{id}/checkpoints': reads(200, '404 not_found', ofJob('/checkpoints')),
  'GET /v1/checkpoints/{id}': reads(200, '404 not_found', (owner) =>
    owner.checkpoint().then((id) => `/v1/checkpoints/${id}`),
  ),
  'DELETE /v1/checkpoints/{id}': submits(204, '404 not_found', (owner) =>
    owner.finalCheckpoint().then((id) => `/v1/checkpoints/${id}`),
  ),
  'POST /v1/checkpoints/{id}/pin': submits(200, '404 not_found', ofPin),
  'DELETE /v1/checkpoints/{id}/pin': submits(200, '404 not_found', ofPin),
  // The row is there and the bytes are not, which is our own state: 503. Another's is 404.
  'GET /v1/checkpoints/{id}/files/{name}': reads(503, '404 not_found', (owner) =>
    owner.checkpoint().then((id) => `/v1/checkpoints/${id}/files/config.json`),
  ),
  'POST /v1/datasets': submits(201, 'nothing', () => ({
    path: `/v1/datasets?name=${fresh()}&kind=math`,
    body: mathRows,
  })),
  'GET /v1/datasets': reads(200, 'nothing', () => '/v1/datasets?limit=200'),
  'GET /v1/datasets/{id}': reads(200, '404 not_found', (owner) =>
    owner.dataset().then((id) => `/v1/datasets/${id}`),
  ),
  'DELETE /v1/datasets/{id}': submits(204, '404 not_found', (owner) =>
    owner.dataset().then((id) => `/v1/datasets/${id}`),
  ),
  'POST /v1/files': submits(200, 'nothing', () => ({ path: '/v1/files', ...fileForm })),
  'GET /v1/files': reads(200, 'nothing', () => '/v1/files?limit=100'),
  'GET /v1/files/{id}': reads(200, '404 not_found', ofFile('')),
  'GET /v1/files/{id}/content': reads(200, '404 not_found', ofFile('/content')),
  'DELETE /v1/files/{id}': submits(200, '404 not_found', ofFile('')),
  // Of a file that is the caller's own.
  'POST /v1/fine_tuning/jobs': submits(200, 'nothing', async (owner) => ({
    path: '/v1/fine_tuning/jobs',
    json: { model: '/models/any', training_file: await owner.file() },
  })),
  'GET /v1/fine_tuning/jobs': reads(200, 'nothing', () => '/v1/fine_tuning/jobs?limit=100'),
  'GET /v1/fine_tuning/jobs/{id}': reads(200, '404 not_found', ofFineTuned('')),
  'POST /v1/fine_tuning/jobs/{id}/cancel': submits(200, '404 not_found', ofFineTuned('/cancel')),
  'POST /v1/fine_tuning/jobs/{id}/pause': submits(200, '404 not_found', ofFineTuned('/pause')),
  'POST /v1/fine_tuning/jobs/{id}/resume': submits(200, '404 not_found', ofFineTuned('/resume')),
  'GET /v1/fine_tuning/jobs/{id}/events': reads(200, '404 not_found', ofFineTuned('/events')),
  'GET /v1/fine_tuning/jobs/{id}/checkpoints': reads(200, '404 not_found', ofFineTuned('/checkpoints')),
  'POST /v1/webhooks': administers(201, 'nothing', () => ({
    path: '/v1/webhooks',
    json: { url: `https://${fresh()}.example/`, events: ['job.failed'] },
  })),
  'GET /v1/webhooks': administers(200, 'nothing', () => '/v1/webhooks?limit=100'),
  'GET /v1/webhooks/{id}': administers(200, '404 not_found', ofWebhook('')),
  'PATCH /v1/webhooks/{id}': administers(200, '404 not_found', async (owner) => ({
    path: `/v1/webhooks/${await owner.webhook()}`,
    json: { events: ['job.paused'] },
  })),
  'DELETE /v1/webhooks/{id}': administers(204, '404 not_found', ofWebhook('')),
  'POST /v1/webhooks/{id}/rotate-secret': administers(200, '404 not_found', ofWebhook('/rotate-secret')),
  'POST /v1/webhooks/{id}/test': administers(202, '404 not_found', ofWebhook('/test')),
  'GET /v1/webhooks/{id}/deliveries': administers(200, '404 not_found', ofWebhook('/deliveries')),
  // It has not been tried yet.
  'POST /v1/webhooks/{id}/deliveries/{delivery}/replay': administers(409, '404 not_found', async (owner) => {
    const { webhook, delivery } = await owner.delivery();
    return `/v1/webhooks/${webhook}/deliveries/${delivery}/replay`;
  }),
  'GET /v1/runners': reads(200, 'nothing', () => '/v1/runners?limit=200'),
  'POST /v1/graders/run': submits(202, 'nothing', async (owner) => {
    await owner.runner();
    return { path: '/v1/graders/run?wait_ms=0', json: { grader: { type: 'math' }, items: gradeItems } };
  }),
  'GET /v1/errands/{id}': reads(200, '404 not_found', (owner) =>
    owner.errand().then((id) => `/v1/errands/${id}`),
  ),
  // No runner of the test answers; that the model is known is seen by its being 503, of another's by 404.
  'POST /v1/chat/completions': submits(503, '404 model_not_found', async (owner) => ({
    path: '/v1/chat/completions',
    json: chat(await owner.checkpoint()),
  })),
  'GET /v1/models': reads(200, 'nothing', () => '/v1/models'),
  'GET /v1/models/{model}': reads(503, '404 model_not_found', (owner) =>
    owner.checkpoint().then((id) => `/v1/models/${id}`),
  ),
  'POST /v1/model-uploads': submits(200, 'nothing', () => ({
    path: '/v1/model-uploads',
    json: { files: modelFiles },
  })),
  'GET /v1/model-uploads/{id}': reads(200, '404 not_found', (owner) =>
    owner.upload().then((id) => `/v1/model-uploads/${id}`),
  ),
  // The bytes are not those of the list: 422 of the project's own upload, 404 of another's.
  'PUT /v1/model-uploads/{id}/files/{name}': submits(422, '404 not_found', async (owner) => ({
    path: `/v1/model-uploads/${await owner.upload()}/files/tokenizer.json`,
    body: '{}',
  })),

  'POST /v1/runner/register': runs(200, 'nothing', () => ({
    path: '/v1/runner/register',
    json: { ...protocol, name: fresh() },
  })),
  'POST /v1/runner/claim': runsOwn(200, '404 not_found', async (owner) => ({
    path: '/v1/runner/claim',
    json: { runner: await owner.runner() },
  })),
  'POST /v1/runner/heartbeat': runsOwn(200, '409 lease_lost', held('heartbeat')),
  'POST /v1/runner/report': runsOwn(
    200,
    '409 lease_lost',
    held('report', () => ({ sequence: 1, entries: [] })),
  ),
  'POST /v1/runner/checkpoints': runsOwn(
    200,
    '409 lease_lost',
    held('checkpoints', (fence) => ({ checkpoint: commitOf(fence) })),
  ),
  'POST /v1/runner/stage-ends': runsOwn(
    200,
    '409 lease_lost',
    held('stage-ends', () => ({ stage_index: 0 })),
  ),
  'POST /v1/runner/finish': runsOwn(
    200,
    '409 lease_lost',
    held('finish', () => ({ outcome: { type: 'succeeded' } })),
  ),
  'POST /v1/runner/errands/claim': runsOwn(200, '404 not_found', async (owner) => ({
    path: '/v1/runner/errands/claim',
    json: { runner: await owner.runner(), kinds: ['grade'] },
  })),
  'POST /v1/runner/errands/heartbeat': runsOwn(200, '409 lease_lost', heldErrand('heartbeat')),
  'POST /v1/runner/errands/finish': runsOwn(
    200,
    '409 lease_lost',
    heldErrand('finish', {
      outcome: { type: 'graded', results: [{ index: 0, status: 'scored', value: 1, parts: {} }] },
    }),
  ),
  'POST /v1/runner/serve': runs(200, '404 not_found', async (owner) => ({
    path: '/v1/runner/serve',
    json: {
      ...protocol,
      name: fresh(),
      checkpoint: await owner.checkpoint(),
      model: null,
      url: 'http://127.0.0.1:1',
      secret: 'x'.repeat(20),
    },
  })),
  'POST /v1/runner/serve/heartbeat': runs(200, '404 not_found', async (owner) => ({
    path: '/v1/runner/serve/heartbeat',
    json: { serving: await owner.serving() },
  })),
  'POST /v1/runner/serve/stop': runs(200, '200 without effect', async (owner) => ({
    path: '/v1/runner/serve/stop',
    json: { serving: await owner.serving() },
  })),

  'POST /v1/projects': operates(201, 'nothing', () => ({ path: '/v1/projects', json: { name: fresh() } })),
  'GET /v1/projects': operates(200, 'nothing', () => '/v1/projects'),
  'GET /v1/projects/{id}': operates(200, '404 not_found', (owner) => `/v1/projects/${owner.project}`),
  'PATCH /v1/projects/{id}': operates(200, '404 not_found', (owner) => ({
    path: `/v1/projects/${owner.project}`,
    json: { weight: 2 },
  })),
  'POST /v1/keys': keeps(201, '404 not_found', (owner) => ({
    path: '/v1/keys',
    json: { name: 'made', scopes: ['read'], project: owner.project },
  })),
  'GET /v1/keys': keeps(200, '404 not_found', (owner) => `/v1/keys?project=${owner.project}`),
  'DELETE /v1/keys/{id}': keeps(204, '404 not_found', (owner) => owner.key().then((id) => `/v1/keys/${id}`)),
  'POST /v1/keys/{id}/rotate': keeps(201, '404 not_found', async (owner) => ({
    path: `/v1/keys/${await owner.key()}/rotate`,
    json: {},
  })),
  'GET /v1/audit': keeps(200, '404 not_found', (owner) => `/v1/audit?project=${owner.project}`),
};
