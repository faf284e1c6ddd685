// Datasets: register by upload, list, get, delete.
import { createRoute, z } from '@hono/zod-openapi';
import { getDataset, listDatasets } from '../../db/datasets.ts';
import { deleteDataset } from '../../db/datasets/delete.ts';
import type { Services } from '../context.ts';
import type { Dataset } from '../contract/dataset.ts';
import { dataset, datasetQuery } from '../contract/dataset.ts';
import { page, pageQuery } from '../contract/list.ts';
import { datasetId } from '../contract/names.ts';
import { graderOf, mappingOf } from '../datasets/mapping.ts';
import { registerDataset } from '../datasets/register.ts';
import { lacksRunner } from '../errands/capable.ts';
import { idempotencyHeader } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { datasetView } from '../views.ts';

const common = { tags: ['datasets'], security };

const create = createRoute({
  ...common,
  method: 'post',
  path: '/v1/datasets',
  description:
    'The body is JSONL or one JSON array of rows, plain or gzipped. Rows that do not fit are named in the report, and the dataset is then `invalid`; its name stays free for a better upload. Rows that carry a solution must get the maximum of `grader` for it: a runner proves that while the dataset is `validating`, and jobs that name it wait.',
  middleware: [allow('submit')],
  request: {
    query: datasetQuery,
    headers: idempotencyHeader,
    body: { required: true, content: { 'application/x-ndjson': { schema: z.string() } } },
  },
  responses: {
    200: json(dataset, 'The dataset that has this name and these rows already'),
    201: json(dataset, 'The new dataset: validating, ready or invalid'),
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

const remove = createRoute({
  ...common,
  method: 'delete',
  path: '/v1/datasets/{id}',
  description: 'Takes the dataset and its rows away, unless a job that has not ended names it.',
  middleware: [allow('submit')],
  request: { params: z.object({ id: datasetId }) },
  responses: { 204: { description: 'It is gone' }, ...problemAnswers('not_found', 'conflict') },
});

export function datasetRoutes(services: Services) {
  const { db, store, timing } = services;
  /** With what it waits for, where nobody is there to prove it. */
  const explained = async (view: Dataset, projectId: string): Promise<Dataset> => {
    if (view.state !== 'validating' || view.grader === null || view.message !== null) return view;
    const lack = await lacksRunner(db, projectId, view.grader, timing.leaseMs);
    return { ...view, message: lack === undefined ? null : `its gold waits to be proven: ${lack}` };
  };
  return newRouter()
    .openapi(create, async (c) => {
      const query = c.req.valid('query');
      const upload = {
        projectId: c.get('caller').projectId,
        name: query.name,
        mapping: mappingOf(query),
        grader: graderOf(query),
        idempotencyKey: c.req.valid('header')['idempotency-key'],
      };
      const { status, body } = await registerDataset(services, upload, c.req.raw);
      const registered = await explained(body as Dataset, upload.projectId);
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
      const { projectId } = c.get('caller');
      const row = await getDataset(db, projectId, id);
      if (row === undefined) throw notFound('dataset', id);
      return c.json(await explained(datasetView(row), projectId), 200);
    })
    .openapi(remove, async (c) => {
      const { id } = c.req.valid('param');
      const found = await deleteDataset(db, c.get('caller').projectId, id);
      if (found === undefined) throw notFound('dataset', id);
      if ('usedBy' in found)
        throw new ProblemError(
          'conflict',
          `job ${found.usedBy} has not ended and names dataset ${id}: cancel it, or wait for its end`,
        );
      // At once where the store is there; else clock work does it.
      await store.delete(found.deleted.key).catch(() => undefined);
      return c.body(null, 204);
    });
}
