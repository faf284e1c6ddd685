// Datasets: register by upload, list, get.
import { createRoute, z } from '@hono/zod-openapi';
import { getDataset, listDatasets } from '../../db/datasets.ts';
import type { Services } from '../context.ts';
import type { Dataset } from '../contract/dataset.ts';
import { dataset, datasetQuery } from '../contract/dataset.ts';
import { page, pageQuery } from '../contract/list.ts';
import { datasetId } from '../contract/names.ts';
import { mappingOf } from '../datasets/mapping.ts';
import { registerDataset } from '../datasets/register.ts';
import { idempotencyHeader } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound } from '../problem.ts';
import { datasetView } from '../views.ts';

const common = { tags: ['datasets'], security };

const create = createRoute({
  ...common,
  method: 'post',
  path: '/v1/datasets',
  description:
    'The body is JSONL or one JSON array of rows, plain or gzipped. Rows that do not fit are named in the report, and the dataset is then `invalid`; its name stays free for a better upload.',
  middleware: [allow('submit')],
  request: {
    query: datasetQuery,
    headers: idempotencyHeader,
    body: { required: true, content: { 'application/x-ndjson': { schema: z.string() } } },
  },
  responses: {
    200: json(dataset, 'The dataset that has this name and these rows already'),
    201: json(dataset, 'The new dataset, ready or invalid'),
    ...problemAnswers(
      'invalid_query',
      'invalid_header',
      'invalid_dataset',
      'too_large',
      'conflict',
      'idempotency_conflict',
      'store_unavailable',
    ),
  },
});

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/datasets',
  description: 'Newest first.',
  middleware: [allow('read', 'submit')],
  request: { query: pageQuery },
  responses: { 200: json(page(dataset), 'Datasets'), ...problemAnswers('invalid_query') },
});

const get = createRoute({
  ...common,
  method: 'get',
  path: '/v1/datasets/{id}',
  middleware: [allow('read', 'submit')],
  request: { params: z.object({ id: datasetId }) },
  responses: { 200: json(dataset, 'The dataset with its report'), ...problemAnswers('not_found') },
});

export function datasetRoutes(services: Services) {
  const { db } = services;
  return newRouter()
    .openapi(create, async (c) => {
      const query = c.req.valid('query');
      const upload = {
        projectId: c.get('caller').projectId,
        name: query.name,
        mapping: mappingOf(query),
        idempotencyKey: c.req.valid('header')['idempotency-key'],
      };
      const { status, body } = await registerDataset(services, upload, c.req.raw);
      const registered = body as Dataset;
      c.header('location', `/v1/datasets/${registered.id}`);
      return c.json(registered, status === 201 ? 201 : 200);
    })
    .openapi(list, async (c) => {
      const rows = await listDatasets(db, c.get('caller').projectId, c.req.valid('query'));
      return c.json(
        pageView(rows, datasetView, (row) => row.id),
        200,
      );
    })
    .openapi(get, async (c) => {
      const { id } = c.req.valid('param');
      const row = await getDataset(db, c.get('caller').projectId, id);
      if (row === undefined) throw notFound('dataset', id);
      return c.json(datasetView(row), 200);
    });
}
