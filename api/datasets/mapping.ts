// What the query of an upload says about its rows.
import type { z } from 'zod';
import type { datasetQuery } from '../contract/dataset.ts';
import { fieldMapping } from '../contract/dataset.ts';
import type { Issue } from '../contract/issues.ts';
import { issuesOf } from '../contract/issues.ts';
import type { RowMapping } from '../contract/mapping.ts';
import { fieldsOf } from '../contract/mapping.ts';
import { inWords, ProblemError } from '../problem.ts';

/** @throws ProblemError invalid_query naming what is wrong with `fields`. */
export function mappingOf(query: z.infer<typeof datasetQuery>): RowMapping {
  const { kind, answer_format: answerFormat } = query;
  if (query.fields === undefined) return { kind, fields: {}, answerFormat };
  const parsed = fieldMapping.safeParse(parseFields(query.fields));
  if (!parsed.success) throw refuse(issuesOf(parsed.error));
  const known = fieldsOf(kind);
  const strangers = Object.keys(parsed.data).filter((field) => !known.includes(field));
  if (strangers.length > 0)
    throw refuse(
      strangers.map((field) => ({
        pointer: `/${field}`,
        message: `rows of kind ${kind} have ${known.join(', ')}`,
      })),
    );
  return { kind, fields: parsed.data, answerFormat };
}

function parseFields(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw refuse([{ pointer: '', message: `not JSON: ${why}` }]);
  }
}

function refuse(issues: readonly Issue[]): ProblemError {
  const placed = issues.map(({ pointer, message }) => ({ pointer: `/fields${pointer}`, message }));
  return new ProblemError('invalid_query', inWords(placed), { issues: placed });
}
