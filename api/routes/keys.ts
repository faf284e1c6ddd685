// API keys: make, list, revoke, rotate. An admin does so within its project, an operator in every one; none gives more than
// it has (keys/authority.ts). There is no Idempotency-Key here: the first answer would have to be kept, with its secret.
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { createKey } from '../../db/keys.ts';
import { getKey, listKeys } from '../../db/keys/list.ts';
import { revokeKey } from '../../db/keys/revoke.ts';
import { rotateKey } from '../../db/keys/rotate.ts';
import type { KeyRow } from '../../db/keys/table.ts';
import type { Env, Services } from '../context.ts';
import type { KeyRequest } from '../contract/keys.ts';
import { key, keyRequest, keyWithSecret, projectReference, rotateRequest } from '../contract/keys.ts';
import { page, pageQuery } from '../contract/list.ts';
import { keyId } from '../contract/names.ts';
import { periodMs } from '../contract/period.ts';
import { mayGive, mayRevoke, mayRotate } from '../keys/authority.ts';
import type { Caller } from '../middleware/auth.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { isOperator, listedProject, theProject } from '../projects/find.ts';
import { keyView } from '../views.ts';

const common = { tags: ['keys'], security };
const keepers = allow('admin', 'operator');
const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;

const create = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/keys',
    description:
      'A key with scopes that the asking key has itself; an operator gives any, in any project. The secret is in this answer and ' +
      'nowhere else. Without an end of its own the key ends when the asking key does.',
    middleware: [keepers, jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: jsonRequest(keyRequest),
    responses: {
      201: json(keyWithSecret, 'The key with its secret'),
      ...problemAnswers(...bodyProblems, 'not_found'),
    },
  });

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/keys',
  description:
    'Keys of the project, newest first, those that were revoked or have expired with the others. An operator sees every project’s.',
  middleware: [keepers],
  request: { query: pageQuery.extend({ project: projectReference.optional() }) },
  responses: {
    200: json(page(key), 'Keys, without their secrets'),
    ...problemAnswers('invalid_query', 'not_found'),
  },
});

const revoke = createRoute({
  ...common,
  method: 'delete',
  path: '/v1/keys/{id}',
  description:
    'The key opens nothing from now on, open event streams included. Only an operator may take a project’s last admin key.',
  middleware: [keepers],
  request: { params: z.object({ id: keyId }) },
  responses: {
    204: { description: 'The key is revoked, now or before' },
    ...problemAnswers('not_found', 'conflict'),
  },
});

const rotate = (services: Services) =>
  createRoute({
    ...common,
    method: 'post',
    path: '/v1/keys/{id}/rotate',
    description:
      'A successor with the same name, scopes and end, and a secret of its own; the old secret stays valid for `grace`.',
    middleware: [keepers, jsonBody({ maxBytes: services.limits.jsonBytes })],
    request: { params: z.object({ id: keyId }), ...jsonRequest(rotateRequest) },
    responses: {
      201: json(keyWithSecret, 'The successor with its secret'),
      ...problemAnswers(...bodyProblems, 'not_found', 'conflict'),
    },
  });

export function keyRoutes(services: Services) {
  const { db, now } = services;
  const theKey = async (c: Context<Env>, id: string): Promise<KeyRow> => {
    const caller = c.get('caller');
    const row = await getKey(db, isOperator(caller) ? undefined : caller.projectId, id);
    if (row === undefined) throw notFound('key', id);
    c.set('about', row.projectId);
    return row;
  };
  return newRouter()
    .openapi(create(services), async (c) => {
      const caller = c.get('caller');
      const request = c.req.valid('json');
      const projectId =
        request.project === undefined ? caller.projectId : await theProject(db, caller, request.project);
      c.set('about', projectId);
      const expiresAt = endOf(request, caller, now());
      mayGive(caller, request.scopes, expiresAt);
      const { row, secret } = await createKey(db, { ...request, projectId, expiresAt });
      c.header('cache-control', 'no-store');
      return c.json({ ...keyView(row), secret }, 201);
    })
    .openapi(list, async (c) => {
      const { project, ...query } = c.req.valid('query');
      const rows = await listKeys(db, await listedProject(db, c.get('caller'), project), query);
      return c.json(
        pageView(rows, keyView, (row) => row.id),
        200,
      );
    })
    .openapi(revoke, async (c) => {
      const caller = c.get('caller');
      const row = await theKey(c, c.req.valid('param').id);
      mayRevoke(caller, row);
      if (
        (await revokeKey(db, row.projectId, row.id, { evenLastAdmin: isOperator(caller) })) === 'last_admin'
      )
        throw new ProblemError(
          'conflict',
          `${row.id} is the last admin key of its project that lives so long: make another first, or ask an operator`,
        );
      return c.body(null, 204);
    })
    .openapi(rotate(services), async (c) => {
      const row = await theKey(c, c.req.valid('param').id);
      mayRotate(c.get('caller'), row);
      const graceMs = periodMs(c.req.valid('json').grace);
      const successor = await rotateKey(db, row.projectId, row.id, graceMs);
      if (successor === undefined) throw notRotatable(await theKey(c, row.id));
      c.header('cache-control', 'no-store');
      return c.json({ ...keyView(successor.row), secret: successor.secret }, 201);
    });
}

/** @throws ProblemError invalid_spec. */
function endOf({ expires_at, expires_in }: KeyRequest, caller: Caller, now: Date): Date | null {
  if (expires_in !== undefined) return new Date(now.getTime() + periodMs(expires_in));
  if (expires_at === undefined) return caller.expiresAt;
  const end = new Date(expires_at);
  if (end > now) return end;
  const issues = [{ pointer: '/expires_at', message: 'lies in the past' }];
  throw new ProblemError('invalid_spec', `/expires_at: ${expires_at} lies in the past`, { issues });
}

function notRotatable({ id, replacedBy, revokedAt }: KeyRow): ProblemError {
  const why =
    replacedBy !== null
      ? `was rotated: ${replacedBy} is in its place`
      : revokedAt !== null
        ? 'was revoked: make a new one'
        : 'has expired: make a new one';
  return new ProblemError('conflict', `key ${id} ${why}`);
}
