// Files, in OpenAI's dialect: uploaded by a form, listed, read, deleted. What jobs learn from them is docs/openai.md.
import { Readable } from 'node:stream';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteFile, getFile, listFiles } from '../../db/files.ts';
import type { FileRow } from '../../db/files/table.ts';
import { getFineTuning } from '../../db/fine-tuning.ts';
import type { Env, Services } from '../context.ts';
import type { File } from '../contract/file.ts';
import { deletedFile, file, fileForm, fileListQuery, openAiPage } from '../contract/file.ts';
import { fileId } from '../contract/names.ts';
import { receiveFile } from '../files/receive.ts';
import { fileView } from '../files/view.ts';
import type { ResultFile } from '../fine-tuning/metrics.ts';
import { resultFileOf } from '../fine-tuning/metrics.ts';
import { jobOfResultFile } from '../fine-tuning/view.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { openAiProblems } from '../openai/answers.ts';
import { json, newRouter, security } from '../openapi.ts';
import { openAiPageOf } from '../pages.ts';
import { notFound } from '../problem.ts';

const common = { tags: ['files'], security };
const ofFile = { ...common, request: { params: z.object({ id: fileId }) } };

/** For the document alone: a router that validated it would hold the whole form in memory. */
const create = {
  ...common,
  method: 'post' as const,
  path: '/v1/files',
  description:
    'A form with the parts `purpose` (fine-tune) and `file`: JSONL, one JSON object a line; what its rows must hold depends on the job that names it.',
  request: {
    headers: idempotencyHeader,
    body: { required: true, content: { 'multipart/form-data': { schema: fileForm } } },
  },
  responses: {
    200: json(file, 'The file'),
    ...openAiProblems(
      'invalid_form',
      'invalid_spec',
      'invalid_dataset',
      'incomplete_body',
      'invalid_header',
      'too_large',
      'unsupported_media_type',
      'idempotency_conflict',
      'store_unavailable',
    ),
  },
};

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/files',
  description: 'Uploaded files, the newest first. Result files of jobs are named by their jobs alone.',
  middleware: [allow('read', 'submit')],
  request: { query: fileListQuery },
  responses: { 200: json(openAiPage(file), 'Files'), ...openAiProblems('invalid_query') },
});

const get = createRoute({
  ...ofFile,
  method: 'get',
  path: '/v1/files/{id}',
  middleware: [allow('read', 'submit')],
  responses: { 200: json(file, 'The file'), ...openAiProblems('not_found') },
});

const content = createRoute({
  ...ofFile,
  method: 'get',
  path: '/v1/files/{id}/content',
  description: 'The bytes as they were uploaded; of a result file, a CSV.',
  middleware: [allow('read', 'submit')],
  responses: {
    200: { description: 'The bytes', content: { 'application/octet-stream': { schema: z.string() } } },
    ...openAiProblems('not_found', 'store_unavailable'),
  },
});

const remove = createRoute({
  ...ofFile,
  method: 'delete',
  path: '/v1/files/{id}',
  description: 'Jobs keep what they have read of it.',
  middleware: [allow('submit')],
  responses: { 200: json(deletedFile, 'It is gone'), ...openAiProblems('not_found') },
});

export function fileRoutes(services: Services) {
  const { db, store } = services;
  const router = newRouter();
  router.openAPIRegistry.registerPath(create);
  router.post(create.path, allow('submit'), async (c) => {
    const key = idempotencyKeyOf(c);
    const { projectId } = c.get('caller');
    const { body } = await receiveFile(services, { projectId, idempotencyKey: key }, c.req.raw);
    return c.json(body as File, 200);
  });
  return router
    .openapi(list, async (c) => {
      const { rows, hasMore } = await listFiles(db, c.get('caller').projectId, c.req.valid('query'));
      return c.json(openAiPageOf(rows.map(fileView), hasMore), 200);
    })
    .openapi(get, async (c) => {
      const found = await theFile(services, c, c.req.valid('param').id);
      return c.json('view' in found ? found.view : fileView(found), 200);
    })
    .openapi(content, async (c) => {
      const found = await theFile(services, c, c.req.valid('param').id);
      const body =
        'view' in found
          ? new Uint8Array(found.bytes)
          : (Readable.toWeb(await store.get(found.key)) as ReadableStream<Uint8Array>);
      const { filename, bytes } = 'view' in found ? found.view : found;
      return new Response(body, {
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(bytes),
          'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
          'x-content-type-options': 'nosniff',
        },
      });
    })
    .openapi(remove, async (c) => {
      const { id } = c.req.valid('param');
      const deleted = await deleteFile(db, c.get('caller').projectId, id);
      if (deleted === undefined) throw notFound('file', id);
      // The row is gone: an object that stays behind is one that nothing names.
      await store.delete(deleted.key).catch(() => undefined);
      return c.json({ id, object: 'file' as const, deleted: true as const }, 200);
    });
}

/** An uploaded file, or what a job of the project that has succeeded has to show. @throws ProblemError not_found. */
async function theFile({ db }: Services, c: Context<Env>, id: string): Promise<FileRow | ResultFile> {
  const { projectId } = c.get('caller');
  const uploaded = await getFile(db, projectId, id);
  if (uploaded !== undefined) return uploaded;
  const tuning = await getFineTuning(db, projectId, jobOfResultFile(id));
  if (tuning?.job.state !== 'succeeded') throw notFound('file', id);
  return resultFileOf(db, tuning);
}
