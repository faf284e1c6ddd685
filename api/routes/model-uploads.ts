// Models in Hugging Face layout, brought to the store so that jobs can begin with them.
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Env, Services } from '../context.ts';
import { modelFileName, modelUpload, modelUploadId, modelUploadRequest } from '../contract/model-upload.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { beginUpload, findUpload, receiveFile } from '../models/upload.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';

const common = { tags: ['models'], security };

const begin = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/model-uploads',
    description:
      'Names the files of a model. The answer says which of them are still to be sent; the same list gives the same upload, so an interrupted one is gone on with. When nothing is missing, `uri` is the model.',
    middleware: [allow('submit'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: jsonRequest(modelUploadRequest),
    responses: {
      200: json(modelUpload, 'The upload'),
      ...problemAnswers(
        'invalid_json',
        'invalid_spec',
        'too_large',
        'unsupported_media_type',
        'store_unavailable',
      ),
    },
  });

const get = createRoute({
  ...common,
  method: 'get',
  path: '/v1/model-uploads/{id}',
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ id: modelUploadId }) },
  responses: { 200: json(modelUpload, 'The upload'), ...problemAnswers('not_found', 'store_unavailable') },
});

const send = createRoute({
  ...common,
  method: 'put',
  path: '/v1/model-uploads/{id}/files/{name}',
  description:
    'The bytes of one file, which must have the size and hash that the list says. May be repeated.',
  middleware: [allow('submit')],
  request: {
    params: z.object({ id: modelUploadId, name: modelFileName }),
    body: { required: true, content: { 'application/octet-stream': { schema: z.string() } } },
  },
  responses: {
    204: { description: 'The file is in the store' },
    ...problemAnswers('not_found', 'invalid_model', 'incomplete_body', 'too_large', 'store_unavailable'),
  },
});

export function modelUploadRoutes(services: Services) {
  const place = (c: Context<Env>) => ({ store: services.store, projectId: c.get('caller').projectId });
  return newRouter()
    .openapi(begin(services), async (c) => c.json(await beginUpload(place(c), c.req.valid('json')), 200))
    .openapi(get, async (c) => c.json(await findUpload(place(c), c.req.valid('param').id), 200))
    .openapi(send, async (c) => {
      const { id, name } = c.req.valid('param');
      await receiveFile(place(c), id, name, c.req.raw);
      return c.body(null, 204);
    });
}
