// Projects and what each may take of the runners: the operator's.
import { createRoute, z } from '@hono/zod-openapi';
import { changeProject, findProject, insertProject, listProjects } from '../../db/projects.ts';
import type { Services } from '../context.ts';
import { page, pageQuery } from '../contract/list.ts';
import { projectId } from '../contract/names.ts';
import type { Project } from '../contract/project.ts';
import { project, projectChange, projectRequest } from '../contract/project.ts';
import { answerOnce, idempotencyHeader } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { projectView } from '../views.ts';

const common = { tags: ['projects'], security };
const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;

const create = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/projects',
    description: 'A project has nothing but a name and quotas until keys are made for it.',
    middleware: [allow('operator'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { headers: idempotencyHeader, ...jsonRequest(projectRequest) },
    responses: {
      201: json(project, 'The project'),
      ...problemAnswers(...bodyProblems, 'conflict', 'idempotency_conflict'),
    },
  });

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/projects',
  description: 'Newest first.',
  middleware: [allow('operator')],
  request: { query: pageQuery },
  responses: { 200: json(page(project), 'Projects'), ...problemAnswers('invalid_query') },
});

const get = createRoute({
  ...common,
  method: 'get',
  path: '/v1/projects/{id}',
  middleware: [allow('operator')],
  request: { params: z.object({ id: projectId }) },
  responses: { 200: json(project, 'The project'), ...problemAnswers('not_found') },
});

const change = (services: Services) =>
  createRoute({
    ...common,
    method: 'patch',
    path: '/v1/projects/{id}',
    description:
      'What is omitted stays as it is. Jobs that run already are not stopped by a smaller max_running.',
    middleware: [allow('operator'), jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { params: z.object({ id: projectId }), ...jsonRequest(projectChange) },
    responses: { 200: json(project, 'The project'), ...problemAnswers(...bodyProblems, 'not_found') },
  });

export function projectRoutes(services: Services) {
  const { db } = services;
  return newRouter()
    .openapi(create(services), async (c) => {
      const request = c.req.valid('json');
      const keyed = {
        projectId: c.get('caller').projectId,
        key: c.req.valid('header')['idempotency-key'],
        request: ['POST /v1/projects', await c.req.text()],
      };
      const answer = await answerOnce(db, keyed, async (tx) => {
        const row = await insertProject(tx, request);
        if (row !== undefined) return { status: 201, body: projectView(row) };
        throw new ProblemError('conflict', `a project named ${JSON.stringify(request.name)} exists`);
      });
      const made = answer.body as Project;
      c.header('location', `/v1/projects/${made.id}`);
      return c.json(made, 201);
    })
    .openapi(list, async (c) => {
      const rows = await listProjects(db, c.req.valid('query'));
      return c.json(
        pageView(rows, projectView, (row) => row.id),
        200,
      );
    })
    .openapi(get, async (c) => {
      const { id } = c.req.valid('param');
      const row = await findProject(db, id);
      if (row === undefined) throw notFound('project', id);
      return c.json(projectView(row), 200);
    })
    .openapi(change(services), async (c) => {
      const { id } = c.req.valid('param');
      const row = await changeProject(db, id, c.req.valid('json'));
      if (row === undefined) throw notFound('project', id);
      c.set('about', id);
      return c.json(projectView(row), 200);
    });
}
