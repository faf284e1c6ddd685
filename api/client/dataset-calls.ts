// Datasets: register by upload, look at, take away.
import type { z } from 'zod';
import type { CheckedCall, Creating, Query } from '../client.ts';
import type { datasetQuery } from '../contract/dataset.ts';
import { dataset } from '../contract/dataset.ts';
import { page } from '../contract/list.ts';
import type { ClientOptions } from './request.ts';
import { send } from './request.ts';

export type DatasetQuery = z.input<typeof datasetQuery>;

export function datasetCalls(options: ClientOptions, call: CheckedCall) {
  const one = (id: string): string => `/v1/datasets/${encodeURIComponent(id)}`;
  return {
    /** `body`: JSONL or a JSON array, plain or gzipped. */
    createDataset: (
      query: DatasetQuery,
      body: Uint8Array<ArrayBuffer> | Blob | string,
      { idempotencyKey = crypto.randomUUID() }: Creating = {},
    ) =>
      call(dataset, {
        method: 'POST',
        path: '/v1/datasets',
        query: { ...query },
        body,
        headers: { 'idempotency-key': idempotencyKey },
        repeatable: true,
        timeoutMs: null,
      }),
    datasets: (query?: Query) =>
      call(page(dataset), {
        method: 'GET',
        path: '/v1/datasets',
        ...(query && { query }),
        repeatable: true,
      }),
    dataset: (id: string) => call(dataset, { method: 'GET', path: one(id), repeatable: true }),
    /** Not repeated: after an answer that was lost the next one would be that there is none. */
    deleteDataset: async (id: string): Promise<void> => {
      await send(options, { method: 'DELETE', path: one(id), repeatable: false });
    },
  };
}
