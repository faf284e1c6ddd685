// The audit trail: who changed what. It holds names, ids and statuses, no bodies and no secrets.
import { z } from 'zod';
import { keyId, name, projectId, timestamp } from './names.ts';

export const auditEntry = z
  .object({
    id: z.string(),
    created_at: timestamp,
    project: projectId.describe('of what was changed'),
    key: z.object({ id: keyId, name }).describe('who asked; a key of another project is an operator’s'),
    method: z.string(),
    route: z.string().describe('as the OpenAPI document names it'),
    thing: z.string().nullable().describe('id of what was changed or created; null where there was none'),
    made: z.string().nullable().describe('id of what a call on another thing created, as a rotation does'),
    status: z
      .number()
      .int()
      .nullable()
      .describe('of the answer; null: not answered yet, or the process ended before it could be noted'),
    request: z.string().describe('the x-request-id'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;
