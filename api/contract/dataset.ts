// Datasets: JSONL (or a JSON array, either gzipped) posted as the body, described by query parameters.
import { z } from 'zod';
import { datasetId, name, sha256, timestamp } from './names.ts';
import { grader } from './grader.ts';
import { datasetKind } from './task.ts';

export const datasetState = z.enum(['validating', 'ready', 'invalid']);

/** A column of the foreign row, or a value chosen by another column: `{ by: "label", cases: { "1": "output_1" } }`. */
export const fieldSource = z.union([
  z.string().min(1),
  z.strictObject({ by: z.string().min(1), cases: z.record(z.string(), z.string().min(1)) }),
]);
export type FieldSource = z.infer<typeof fieldSource>;

export const fieldMapping = z.record(z.string().min(1), fieldSource);
export type FieldMapping = z.infer<typeof fieldMapping>;

/** How the gold stands in a foreign answer column: as it is, or after the last "####" (GSM8K). */
export const answerFormat = z.enum(['plain', 'gsm8k']);

export const datasetQuery = z.strictObject({
  name,
  kind: datasetKind,
  fields: z
    .string()
    .optional()
    .describe(
      'JSON object: our field -> column of the posted rows, for example {"prompt":"question"}; or chosen by another column: ' +
        '{"chosen":{"by":"label","cases":{"1":"output_1","2":"output_2"}}}',
    ),
  answer_format: answerFormat
    .default('plain')
    .describe('how the gold of math rows stands in its column: as it is, or after the last "####" (gsm8k)'),
  grader: z
    .string()
    .optional()
    .describe(
      'JSON: the grader that must give every row’s gold its maximum. Default by kind: {"type":"math"}, {"type":"code","language":"python"}, {"type":"swe"}',
    ),
});

export const rowIssue = z.object({
  row: z.number().int().describe('0-based'),
  pointer: z.string(),
  message: z.string(),
});
export type RowIssue = z.infer<typeof rowIssue>;

const count = z.number().int().min(0);
export const namedIssues = 100;
export const namedDuplicates = 20;

/** What proving the gold finds out. */
const gold = {
  broken: count.describe(
    'rows that are none of their kind, or whose gold does not reach the grader’s maximum',
  ),
  issues: z.array(rowIssue).max(namedIssues).describe(`the first ${namedIssues}`),
  unproven: count.describe('rows whose gold nothing proves: only their form was checked'),
  zero_maximum: z
    .object({ count, rows: z.array(count).max(namedIssues).describe(`the first ${namedIssues}`) })
    .describe('rows whose gold is worth 0: nothing can be learnt from them'),
};
export const goldReport = z.object(gold);
export type GoldReport = z.infer<typeof goldReport>;

export const validationReport = z.object({
  rows: count,
  ...gold,
  unproven: gold.unproven.default(0),
  zero_maximum: gold.zero_maximum.default({ count: 0, rows: [] }),
  duplicates: z
    .object({
      count,
      pairs: z
        .array(z.object({ row: count, first: count }))
        .max(namedDuplicates)
        .describe(`the first ${namedDuplicates}`),
    })
    .default({ count: 0, pairs: [] })
    .describe('rows whose prompt an earlier row has already'),
  partial: count
    .default(0)
    .describe('swe rows without files: edits outside the hunks of their patch cannot be graded'),
});

export type ValidationReport = z.infer<typeof validationReport>;

export const dataset = z
  .object({
    id: datasetId,
    name,
    kind: datasetKind,
    state: datasetState,
    rows: z.number().int(),
    size: z.number().int().describe('bytes of the stored JSONL'),
    sha256: sha256.describe('of the stored JSONL'),
    grader: grader.nullable().default(null).describe('what proves the gold'),
    report: validationReport,
    message: z.string().nullable().default(null).describe('what it waits for, or why it is invalid'),
    created_at: timestamp,
  })
  .meta({ id: 'Dataset' });
export type Dataset = z.infer<typeof dataset>;
