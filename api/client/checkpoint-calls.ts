// Checkpoints: look at, fetch, pin, take away.
import type { CheckedCall, Query } from '../client.ts';
import { checkpoint } from '../contract/checkpoint.ts';
import { page } from '../contract/list.ts';
import type { ClientOptions } from './request.ts';
import { send } from './request.ts';

export function checkpointCalls(options: ClientOptions, call: CheckedCall) {
  const one = (id: string): string => `/v1/checkpoints/${encodeURIComponent(id)}`;
  return {
    checkpoints: (jobId: string, query?: Query) =>
      call(page(checkpoint), {
        method: 'GET',
        path: `/v1/jobs/${encodeURIComponent(jobId)}/checkpoints`,
        ...(query && { query }),
        repeatable: true,
      }),
    checkpoint: (id: string) => call(checkpoint, { method: 'GET', path: one(id), repeatable: true }),
    /** The bytes of a file, as a stream. Names are those of the checkpoint's `files`, or manifest.json. */
    checkpointFile: (id: string, name: string, signal?: AbortSignal) =>
      send(options, {
        method: 'GET',
        path: `${one(id)}/files/${encodeURIComponent(name)}`,
        repeatable: true,
        timeoutMs: null,
        signal,
      }),
    pinCheckpoint: (id: string) =>
      call(checkpoint, { method: 'POST', path: `${one(id)}/pin`, repeatable: true }),
    unpinCheckpoint: (id: string) =>
      call(checkpoint, { method: 'DELETE', path: `${one(id)}/pin`, repeatable: true }),
    /** Not repeated: after an answer that was lost the next one would be that there is none. */
    deleteCheckpoint: async (id: string): Promise<void> => {
      await send(options, { method: 'DELETE', path: one(id), repeatable: false });
    },
  };
}
