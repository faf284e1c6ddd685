// API keys. A key belongs to one project and sees only what that project owns.
import { z } from 'zod';
import { keyId, name, projectId, timestamp } from './names.ts';
import { period, periodMs } from './period.ts';

/**
 * operator: the whole service: projects, their quotas, their keys. admin: everything in its project. submit: post and cancel, and all
 * that read may. runner: the runner protocol and nothing else. shared_runner: the same, for the jobs of every project.
 */
export const scopes = ['operator', 'admin', 'submit', 'read', 'runner', 'shared_runner'] as const;
export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;

/** Several scopes, each once. */
export const scopeList = z
  .array(scope)
  .min(1)
  .refine((list) => new Set(list).size === list.length, 'each scope once');

/** A project by its id or its name. */
export const projectReference = name.describe('id or name of a project');

export const key = z
  .object({
    id: keyId,
    project: projectId,
    name,
    scopes: z.array(scope),
    prefix: z.string().nullable().describe('the first characters of the secret, to recognise it by'),
    created_at: timestamp,
    expires_at: timestamp.nullable().describe('null: valid until it is revoked'),
    last_used_at: timestamp.nullable().describe('to the minute'),
    revoked_at: timestamp.nullable(),
    replaced_by: keyId.nullable().describe('the key that a rotation put in its place'),
  })
  .meta({ id: 'Key' });
export type Key = z.infer<typeof key>;

export const keyWithSecret = key
  .extend({ secret: z.string().describe('the key itself, shown this once and kept nowhere') })
  .meta({ id: 'KeyWithSecret' });
export type KeyWithSecret = z.infer<typeof keyWithSecret>;

export const keyRequest = z
  .strictObject({
    name,
    scopes: scopeList.describe('of those that the asking key has itself'),
    project: projectReference
      .optional()
      .describe('default: that of the asking key; another only by operator'),
    expires_at: timestamp.optional(),
    expires_in: period
      .refine((text) => periodMs(text) > 0, 'a key that ends at once opens nothing')
      .optional()
      .describe('in place of expires_at'),
  })
  .refine(({ expires_at, expires_in }) => expires_at === undefined || expires_in === undefined, {
    message: 'give expires_at or expires_in, not both',
    path: ['expires_in'],
  });
export type KeyRequest = z.infer<typeof keyRequest>;

export const rotateRequest = z.strictObject({
  grace: period.default('24h').describe('how long the old secret stays valid; 0s: it ends at once'),
});
