// Projects, keys and the audit trail.
import type { z } from 'zod';
import type { CheckedCall, Creating, Query } from '../client.ts';
import { auditEntry } from '../contract/audit.ts';
import type { keyRequest, rotateRequest } from '../contract/keys.ts';
import { key, keyWithSecret } from '../contract/keys.ts';
import { page } from '../contract/list.ts';
import type { projectChange, projectRequest } from '../contract/project.ts';
import { project } from '../contract/project.ts';
import type { ClientOptions } from './request.ts';
import { send } from './request.ts';

export function keyCalls(options: ClientOptions, call: CheckedCall) {
  const get = <T extends z.ZodType>(schema: T, path: string, query?: Query) =>
    call(schema, { method: 'GET', path, ...(query && { query }), repeatable: true });
  const oneProject = (id: string): string => `/v1/projects/${encodeURIComponent(id)}`;
  const oneKey = (id: string): string => `/v1/keys/${encodeURIComponent(id)}`;
  return {
    createProject: (
      request: z.input<typeof projectRequest>,
      { idempotencyKey = crypto.randomUUID() }: Creating = {},
    ) =>
      call(project, {
        method: 'POST',
        path: '/v1/projects',
        json: request,
        headers: { 'idempotency-key': idempotencyKey },
        repeatable: true,
      }),
    projects: (query?: Query) => get(page(project), '/v1/projects', query),
    project: (id: string) => get(project, oneProject(id)),
    changeProject: (id: string, change: z.input<typeof projectChange>) =>
      call(project, { method: 'PATCH', path: oneProject(id), json: change, repeatable: true }),

    /** Not repeated: where the answer is lost, so is the secret, and the key is to be revoked. */
    createKey: (request: z.input<typeof keyRequest>) =>
      call(keyWithSecret, { method: 'POST', path: '/v1/keys', json: request, repeatable: false }),
    keys: (query?: Query) => get(page(key), '/v1/keys', query),
    revokeKey: async (id: string): Promise<void> => {
      await send(options, { method: 'DELETE', path: oneKey(id), repeatable: true });
    },
    /** Not repeated, as `createKey` is not. */
    rotateKey: (id: string, request: z.input<typeof rotateRequest> = {}) =>
      call(keyWithSecret, { method: 'POST', path: `${oneKey(id)}/rotate`, json: request, repeatable: false }),

    audit: (query?: Query) => get(page(auditEntry), '/v1/audit', query),
  };
}
