// Bringing a model to the store, as functions.
import type { CheckedCall } from '../client.ts';
import type { ModelUploadRequest } from '../contract/model-upload.ts';
import { modelUpload } from '../contract/model-upload.ts';
import type { ClientOptions } from './request.ts';
import { send } from './request.ts';

const path = '/v1/model-uploads';

export function modelCalls(options: ClientOptions, call: CheckedCall) {
  return {
    /** Names the files of a model; the answer says which are to be sent. */
    beginModelUpload: (request: ModelUploadRequest) =>
      call(modelUpload, { method: 'POST', path, json: request, repeatable: true }),
    modelUpload: (id: string) =>
      call(modelUpload, { method: 'GET', path: `${path}/${encodeURIComponent(id)}`, repeatable: true }),
    /** The bytes of one file. A stream cannot be sent twice, so this is tried once. */
    sendModelFile: async (
      id: string,
      name: string,
      body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
      signal?: AbortSignal,
    ): Promise<void> => {
      await send(options, {
        method: 'PUT',
        path: `${path}/${encodeURIComponent(id)}/files/${encodeURIComponent(name)}`,
        body,
        headers: { 'content-type': 'application/octet-stream' },
        repeatable: false,
        timeoutMs: null,
        signal,
      });
    },
  };
}
