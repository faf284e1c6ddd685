// Committed checkpoints and their files: bytes come from the store by a presigned URL where it makes such, else
// through here.
import { Readable } from 'node:stream';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { getCheckpoint, listCheckpoints } from '../../db/checkpoints/get.ts';
import type { CheckpointRow } from '../../db/schema.ts';
import { servedRange } from '../byte-range.ts';
import type { Env, Services } from '../context.ts';
import { checkpoint, manifestName } from '../contract/checkpoint.ts';
import { page, pageQuery } from '../contract/list.ts';
import { checkpointId, jobId } from '../contract/names.ts';
import { theJob } from '../jobs/find.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { checkpointView } from '../views.ts';

/** Long enough to begin a download, short enough that a leaked URL is soon worthless. */
const presignedSeconds = 900;

const readers = allow('read', 'submit');
const common = { tags: ['checkpoints'], security, middleware: [readers] };

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/jobs/{id}/checkpoints',
  description: 'Newest first.',
  request: { params: z.object({ id: jobId }), query: pageQuery },
  responses: { 200: json(page(checkpoint), 'Checkpoints'), ...problemAnswers('not_found', 'invalid_query') },
});

const get = createRoute({
  ...common,
  method: 'get',
  path: '/v1/checkpoints/{id}',
  request: { params: z.object({ id: checkpointId }) },
  responses: { 200: json(checkpoint, 'The checkpoint with its files'), ...problemAnswers('not_found') },
});

const file = createRoute({
  ...common,
  method: 'get',
  path: '/v1/checkpoints/{id}/files/{name}',
  description: 'One file, named as in `files` (a slash may stand as %2F), or manifest.json.',
  request: { params: z.object({ id: checkpointId, name: z.string() }) },
  responses: {
    200: { description: 'The bytes', content: { 'application/octet-stream': { schema: z.string() } } },
    206: { description: 'Part of the bytes, for `Range: bytes=FIRST-` and `bytes=FIRST-LAST`' },
    302: { description: 'A URL that gives the bytes for some minutes' },
    ...problemAnswers('not_found', 'range_not_satisfiable', 'store_unavailable'),
  },
});

export function checkpointRoutes(services: Services) {
  const { db } = services;
  const theCheckpoint = async (c: Context<Env>, id: string): Promise<CheckpointRow> => {
    const row = await getCheckpoint(db, c.get('caller').projectId, id);
    if (row === undefined) throw notFound('checkpoint', id);
    return row;
  };
  const router = newRouter()
    .openapi(list, async (c) => {
      const { id } = await theJob(db, c.get('caller'), c.req.valid('param').id);
      const rows = await listCheckpoints(db, c.get('caller').projectId, id, c.req.valid('query'));
      return c.json(
        pageView(rows, checkpointView, (row) => row.id),
        200,
      );
    })
    .openapi(get, async (c) => c.json(checkpointView(await theCheckpoint(c, c.req.valid('param').id)), 200))
    .openapi(file, async (c) => {
      const { id, name } = c.req.valid('param');
      return serveFile(services, await theCheckpoint(c, id), name, c.req.header('range'));
    });
  // The same with the slash of trainer/… left as it is, which a path parameter of OpenAPI cannot say.
  router.get('/v1/checkpoints/:id/files/:name{.+}', readers, async (c) => {
    const { id, name } = c.req.param();
    if (!checkpointId.safeParse(id).success) throw notFound('checkpoint', id);
    return serveFile(services, await theCheckpoint(c, id), name, c.req.header('range'));
  });
  return router;
}

async function serveFile(
  { store }: Services,
  row: CheckpointRow,
  name: string,
  range: string | undefined,
): Promise<Response> {
  const entry = row.files.find((one) => one.name === name);
  if (entry === undefined && name !== manifestName) throw notFound('file', `${row.id}/${name}`);
  const key = row.prefix + name;
  const url = await store.presignGet(key, { expiresIn: presignedSeconds, filename: name.replace('/', '-') });
  if (url !== undefined)
    return new Response(null, { status: 302, headers: { location: url, 'cache-control': 'no-store' } });
  const size = entry?.size ?? (await store.head(key))?.size;
  if (size === undefined) throw notFound('file', `${row.id}/${name}`);
  const part = servedRange(range, size);
  if (part === 'unsatisfiable')
    throw new ProblemError(
      'range_not_satisfiable',
      `${name} has ${size} bytes; the Range header was ${range}`,
      {
        headers: { 'content-range': `bytes */${size}` },
      },
    );
  const stream = await store.get(key, part === undefined ? {} : { range: part });
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    status: part === undefined ? 200 : 206,
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(part === undefined ? size : part.end - part.start + 1),
      'accept-ranges': 'bytes',
      ...(part === undefined ? {} : { 'content-range': `bytes ${part.start}-${part.end}/${size}` }),
      etag: `"${entry?.sha256 ?? row.manifestSha256}"`,
      'x-content-type-options': 'nosniff',
    },
  });
}
