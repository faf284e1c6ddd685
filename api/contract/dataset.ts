// Datasets: JSONL (or a JSON array, either gzipped) posted as the body, described by query parameters.
import { z } from 'zod';
import { datasetId, name, sha256, timestamp } from './names.ts';
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
    .describe('JSON object: our field -> column of the posted rows, for example {"prompt":"question"}'),
  answer_format: answerFormat.default('plain'),
});

export const rowIssue = z.object({
  row: z.number().int().describe('0-based'),
  pointer: z.string(),
  message: z.string(),
});
export type RowIssue = z.infer<typeof rowIssue>;

export const validationReport = z.object({
  rows: z.number().int(),
  broken: z.number().int(),
  issues: z.array(rowIssue).describe('the first 100'),
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
    report: validationReport,
    created_at: timestamp,
  })
  .meta({ id: 'Dataset' });
export type Dataset = z.infer<typeof dataset>;
