// The typed client of the service, for the CLI, the runner, the dashboard and the tests. It knows the contract and
// HTTP, nothing else, and checks every answer against the contract before anybody works with it.
import type { z } from 'zod';
import { checkpointCalls } from './client/checkpoint-calls.ts';
import { ApiError, UnreachableError } from './client/errors.ts';
import { datasetCalls } from './client/dataset-calls.ts';
import { followEvents } from './client/follow.ts';
import { graderCalls } from './client/grader-calls.ts';
import { keyCalls } from './client/key-calls.ts';
import { modelCalls } from './client/model-calls.ts';
import type { Call, ClientOptions } from './client/request.ts';
import { send } from './client/request.ts';
import { runnerCalls } from './client/runner-calls.ts';
import { verifyWebhook, WebhookError } from './client/verify-webhook.ts';
import { webhookCalls } from './client/webhook-calls.ts';
import { jobEvent } from './contract/event.ts';
import { job, jobDetail } from './contract/job.ts';
import type { ForkRequest } from './contract/job.ts';
import { page } from './contract/list.ts';
import { evaluation, metricPoint, sample } from './contract/results.ts';
import { runner } from './contract/runner.ts';
import type { JobSpecInput, PresetSpecInput } from './contract/spec.ts';

export { ApiError, UnreachableError, verifyWebhook, WebhookError };
export type { ClientOptions };

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Creating {
  /** Default: a new one for each call, so that its retries create one thing only. */
  readonly idempotencyKey?: string;
}

interface Page<T> {
  readonly data: T[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

export type Client = ReturnType<typeof createClient>;

/** Nothing is contacted yet. Calls throw ApiError or UnreachableError. */
export function createClient(options: ClientOptions) {
  const call = caller(options);
  const get = <T extends z.ZodType>(schema: T, path: string, query?: Query) =>
    call(schema, { method: 'GET', path, ...(query && { query }), repeatable: true });
  const createJob = (path: string, json: unknown, { idempotencyKey }: Creating) => {
    const headers = { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() };
    return call(jobDetail, { method: 'POST', path, json, headers, repeatable: true });
  };

  return {
    createJob: (spec: JobSpecInput | PresetSpecInput, creating: Creating = {}) =>
      createJob('/v1/jobs', spec, creating),
    jobs: (query?: Query) => get(page(job), '/v1/jobs', query),
    job: (id: string) => get(jobDetail, `/v1/jobs/${encodeURIComponent(id)}`),
    cancelJob: (id: string) =>
      call(job, { method: 'POST', path: `/v1/jobs/${encodeURIComponent(id)}/cancel`, repeatable: true }),
    pauseJob: (id: string) =>
      call(job, { method: 'POST', path: `/v1/jobs/${encodeURIComponent(id)}/pause`, repeatable: true }),
    /** Of a job that has ended. Not repeated: after an answer that was lost the next one would be that there is none. */
    deleteJob: async (id: string): Promise<void> => {
      await send(options, {
        method: 'DELETE',
        path: `/v1/jobs/${encodeURIComponent(id)}`,
        repeatable: false,
      });
    },
    resumeJob: (id: string) =>
      call(job, { method: 'POST', path: `/v1/jobs/${encodeURIComponent(id)}/resume`, repeatable: true }),
    retryJob: (id: string, creating: Creating = {}) =>
      createJob(`/v1/jobs/${encodeURIComponent(id)}/retry`, undefined, creating),
    forkJob: (id: string, fork: ForkRequest, creating: Creating = {}) =>
      createJob(`/v1/jobs/${encodeURIComponent(id)}/fork`, fork, creating),

    /** Every event after `after` (0: from the beginning), live, until the job's last one; reconnects by itself. */
    events: (id: string, follow: { after?: number; signal?: AbortSignal } = {}) =>
      followEvents(options, id, follow),
    eventsPage: (id: string, query?: Query) =>
      get(page(jobEvent), `/v1/jobs/${encodeURIComponent(id)}/events`, query),
    metrics: (id: string, query?: Query) =>
      get(page(metricPoint), `/v1/jobs/${encodeURIComponent(id)}/metrics`, query),
    /** `values`: with the value of every task. */
    evaluations: (id: string, { values = false }: { readonly values?: boolean } = {}) =>
      get(page(evaluation), `/v1/jobs/${encodeURIComponent(id)}/evaluations`, { values: String(values) }),
    samples: (id: string, query?: Query) =>
      get(page(sample), `/v1/jobs/${encodeURIComponent(id)}/samples`, query),
    logs: async (id: string, query?: Query) =>
      (
        await send(options, {
          method: 'GET',
          path: `/v1/jobs/${encodeURIComponent(id)}/logs`,
          ...(query && { query }),
          repeatable: true,
        })
      ).text(),

    ...checkpointCalls(options, call),
    ...datasetCalls(options, call),
    ...graderCalls(call),
    ...modelCalls(options, call),
    ...keyCalls(options, call),
    ...webhookCalls(options, call),

    runners: (query?: Query) => get(page(runner), '/v1/runners', query),
    runner: runnerCalls(call),

    /** All items of a list, page after page: `all((query) => client.jobs(query))`. */
    all: everyItem,
  };
}

export type CheckedCall = <T extends z.ZodType>(schema: T, call: Call) => Promise<z.infer<T>>;

function caller(options: ClientOptions): CheckedCall {
  return async (schema, call) => {
    const response = await send(options, call);
    const parsed = schema.safeParse(await response.json());
    if (parsed.success) return parsed.data;
    const where = `${call.method} ${call.path}`;
    throw new ApiError(
      response.status,
      'unknown',
      `the answer to ${where} is not what this version expects: ${parsed.error.message}`,
    );
  };
}

async function* everyItem<T>(
  list: (query: Query) => Promise<Page<T>>,
  query: Query = {},
): AsyncGenerator<T, void, undefined> {
  for (let after = query['after']; ;) {
    const { data, has_more, last_id } = await list({ ...query, after });
    yield* data;
    if (!has_more || last_id === null) return;
    after = last_id;
  }
}
