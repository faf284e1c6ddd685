// A project with one of everything, made by its own admin key through the API: for tests that ask who may see or change it.
import type OpenAI from 'openai';
import type { Client } from '../../api/client.ts';
import { chatRow, upload } from './openai/support.ts';
import type { Fenced } from './support.ts';
import { claimOne, mathRows, registerDatasets, spec } from './support.ts';

export interface Owner {
  readonly client: Client;
  /** Id of the project. */
  readonly project: string;
  /** Stands in the names of what it owns: where nobody else may ever read it. */
  readonly mark: string;
  /** Ids of all that it has made. */
  readonly ids: ReadonlySet<string>;
  job(): Promise<string>;
  pausedJob(): Promise<string>;
  endedJob(): Promise<string>;
  dataset(): Promise<string>;
  checkpoint(): Promise<string>;
  /** Of a job that has ended. */
  finalCheckpoint(): Promise<string>;
  errand(): Promise<string>;
  upload(): Promise<string>;
  runner(): Promise<string>;
  serving(): Promise<string>;
  key(): Promise<string>;
  file(): Promise<string>;
  fineTuned(): Promise<string>;
  webhook(): Promise<string>;
  delivery(): Promise<{ webhook: string; delivery: string }>;
  /** A job that is held by a runner of the project. */
  held(): Promise<Fenced>;
  heldErrand(): Promise<{ runner: string; errand: string; attempt: number }>;
}

export const sha256 = '0'.repeat(64);
export const modelFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map(
  (name) => ({ name, size: 2, sha256 }),
);

export const commitOf = (fence: Fenced) => ({
  stage: 'math',
  stage_index: 1,
  step: 1,
  kind: 'step' as const,
  prefix: `jobs/${fence.job}/a${fence.attempt}/x/`,
  manifest_sha256: sha256,
  size: 2,
  files: [{ name: 'config.json', size: 2, sha256 }],
});

/** `openai`: with the same key. */
export async function makeOwner(client: Client, openai: OpenAI, mark: string): Promise<Owner> {
  await registerDatasets(client);
  const ids = new Set<string>();
  const noting = (id: string): string => (ids.add(id), id);
  let count = 0;
  const named = (): string => `${mark}-${++count}`;
  const runner = async (): Promise<string> => {
    const can = { protocol: 1, accelerator: 'cpu', memory_gb: 8, grader: true, version: '1' } as const;
    return noting((await client.runner.register({ ...can, name: named() })).runner);
  };
  const job = async (): Promise<string> => noting((await client.createJob(spec({ name: named() }))).id);
  const held = async (): Promise<Fenced> => {
    await job();
    return (await claimOne(client, mark)).fence;
  };
  const errand = async (): Promise<string> => {
    await runner();
    const items = [{ task: { prompt: mark, answer: '1' }, response: mark }];
    const pending = await client.grade({ grader: { type: 'math' }, items }, { waitMs: 0 });
    return noting((pending as { errand: string }).errand);
  };
  return {
    client,
    project: (await client.keys({ limit: 1 })).data[0]!.project,
    mark,
    ids,
    job,
    held,
    errand,
    runner,
    async pausedJob() {
      const id = await job();
      await client.pauseJob(id);
      return id;
    },
    async endedJob() {
      const id = await job();
      await client.cancelJob(id);
      return id;
    },
    async finalCheckpoint() {
      const fence = await held();
      const { id } = await client.runner.checkpoint({ ...fence, checkpoint: commitOf(fence) });
      await client.runner.finish({ ...fence, outcome: { type: 'succeeded' }, log: '' });
      return noting(id);
    },
    ...tuningOf(openai, { mark, named, noting }),
    ...webhooksOf(client, { mark, named, noting }),
    async dataset() {
      return noting((await client.createDataset({ name: named(), kind: 'math' }, mathRows)).id);
    },
    async checkpoint() {
      const fence = await held();
      return noting((await client.runner.checkpoint({ ...fence, checkpoint: commitOf(fence) })).id);
    },
    // Another file list each time, or two projects would have uploads of one id.
    upload: async () => (await client.beginModelUpload({ files: listOf(named()) })).id,
    async serving() {
      const serving = {
        protocol: 1,
        checkpoint: null,
        model: named(),
        url: 'http://127.0.0.1:1',
        version: '1',
      };
      return noting(
        (await client.runner.serve({ ...serving, name: named(), secret: 'x'.repeat(20) })).serving,
      );
    },
    async key() {
      return noting((await client.createKey({ name: named(), scopes: ['read'] })).id);
    },
    async heldErrand() {
      await errand();
      const of = await runner();
      const { claim } = await client.runner.claimErrand({ runner: of, kinds: ['grade'] });
      return { runner: of, errand: claim!.errand, attempt: claim!.attempt };
    },
  };
}

interface Making {
  readonly mark: string;
  readonly named: () => string;
  readonly noting: (id: string) => string;
}

function tuningOf(openai: OpenAI, { mark, named, noting }: Making): Pick<Owner, 'file' | 'fineTuned'> {
  const file = async (): Promise<string> =>
    noting(await upload(openai, [chatRow(mark, mark)], `${named()}.jsonl`));
  const fineTuned = async (): Promise<string> => {
    const job = { model: '/models/any', training_file: await file() };
    return noting((await openai.fineTuning.jobs.create(job)).id);
  };
  return { file, fineTuned };
}

function webhooksOf(client: Client, { named, noting }: Making): Pick<Owner, 'webhook' | 'delivery'> {
  let last: string | undefined;
  /** A project has few: the one before goes. */
  const webhook = async (): Promise<string> => {
    if (last !== undefined) await client.deleteWebhook(last).catch(() => undefined);
    const { id } = await client.createWebhook({
      url: `https://${named()}.example/hook`,
      events: ['job.succeeded'],
    });
    return (last = noting(id));
  };
  const delivery = async () => {
    const of = await webhook();
    return { webhook: of, delivery: noting((await client.testWebhook(of)).id) };
  };
  return { webhook, delivery };
}

const listOf = (name: string) => [...modelFiles, { name: `${name}.safetensors`, size: 2, sha256 }];
