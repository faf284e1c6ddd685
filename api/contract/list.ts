// Pages. Lists are newest first, except events and metrics, which are oldest first.
import { z } from 'zod';

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(20),
  after: z.string().optional().describe('the last id of the page before'),
  before: z.string().optional().describe('the first id of the page after'),
});

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), has_more: z.boolean(), first_id: z.string().nullable(), last_id: z.string().nullable() });
