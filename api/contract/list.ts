// Pages. Lists are newest first, except events and metrics, which are oldest first. `after` goes on in the
// direction of the list, `before` goes back; the ids to give are the page's own `last_id` and `first_id`.
import { z } from 'zod';

/** A query parameter that counts; `most` is named where it is worth knowing. */
export const wholeNumber = (least: number, most: number) => {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return z.coerce.number(`a whole number ${range} is wanted`).int().min(least).max(most);
};

const limit = wholeNumber(1, 200).default(20);

export const pageQuery = z.object({
  limit,
  after: z
    .string()
    .regex(/^[a-z]+_[0-9a-z]{20,40}$/, 'the last_id of a page')
    .optional()
    .describe('the last id of the page before'),
  before: z
    .string()
    .regex(/^[a-z]+_[0-9a-z]{20,40}$/, 'the first_id of a page')
    .optional()
    .describe('the first id of the page after'),
});
export type PageQuery = z.infer<typeof pageQuery>;

/** Lists that are ordered by a number: events, metrics. */
export const sequenceQuery = z.object({
  limit: wholeNumber(1, 1000).default(100),
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).describe('the last_id of the page before'),
});

export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  });
