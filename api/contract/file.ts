// Files as OpenAI's API has them: JSONL that is uploaded once and named by jobs in that API's form. Result files of such
// jobs are read the same way; they are made when they are asked for.
import { z } from 'zod';
import { wholeNumber } from './list.ts';
import { fileId } from './names.ts';

export const filePurpose = z.enum(['fine-tune', 'fine-tune-results']);

export const seconds = z.number().int().describe('seconds since 1970');

export const file = z
  .object({
    id: fileId,
    object: z.literal('file'),
    bytes: z.number().int(),
    created_at: seconds,
    filename: z.string(),
    purpose: filePurpose,
    status: z.literal('processed'),
    expires_at: z.null(),
  })
  .meta({ id: 'File' });
export type File = z.infer<typeof file>;

/** Pages of OpenAI's lists: `after` is the id of the last thing of the page before. */
export const openAiPage = <T extends z.ZodType>(item: T) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  });

export const fileListQuery = z.strictObject({
  limit: wholeNumber(1, 10_000).default(10_000),
  after: fileId.optional().describe('the last id of the page before'),
  order: z.enum(['asc', 'desc']).default('desc').describe('by time of creation'),
  purpose: filePurpose.optional(),
});

export const deletedFile = z.object({ id: fileId, object: z.literal('file'), deleted: z.literal(true) });

/** The form of an upload, for the document: it is read as a stream, part by part. */
export const fileForm = z
  .strictObject({
    file: z.string().meta({ format: 'binary' }).describe('JSONL, one row a line; with a filename'),
    purpose: z.literal('fine-tune'),
  })
  .meta({ id: 'FileForm' });
