// What the query of an upload says about its rows: which columns they have, and what proves their gold.
import type { z } from 'zod';
import type { datasetQuery } from '../contract/dataset.ts';
import { fieldMapping } from '../contract/dataset.ts';
import type { Grader } from '../contract/grader.ts';
import { gradedKinds, grader } from '../contract/grader.ts';
import type { Issue } from '../contract/issues.ts';
import { issuesOf } from '../contract/issues.ts';
import type { RowMapping } from '../contract/mapping.ts';
import { fieldsOf } from '../contract/mapping.ts';
import { provingGrader } from '../contract/proof.ts';
import type { DatasetKind } from '../contract/task.ts';
import { inWords, ProblemError } from '../problem.ts';

/** @throws ProblemError invalid_query naming what is wrong with `fields`. */
export function mappingOf(query: z.infer<typeof datasetQuery>): RowMapping {
  const { kind, answer_format: answerFormat } = query;
  if (query.fields === undefined) return { kind, fields: {}, answerFormat };
  const parsed = fieldMapping.safeParse(parsePart('fields', query.fields));
  if (!parsed.success) throw refuse('fields', issuesOf(parsed.error));
  const known = fieldsOf(kind);
  const strangers = Object.keys(parsed.data).filter((field) => !known.includes(field));
  if (strangers.length > 0)
    throw refuse(
      'fields',
      strangers.map((field) => ({
        pointer: `/${field}`,
        message: `rows of kind ${kind} have ${known.join(', ')}`,
      })),
    );
  return { kind, fields: parsed.data, answerFormat };
}

/** What is to prove the gold; undefined where nothing can. @throws ProblemError invalid_query naming what is wrong with `grader`. */
export function graderOf({ kind, grader: given }: z.infer<typeof datasetQuery>): Grader | undefined {
  if (given === undefined) return provingGrader[kind];
  const parsed = grader.safeParse(parsePart('grader', given));
  if (!parsed.success) throw refuse('grader', issuesOf(parsed.error));
  const kinds: readonly DatasetKind[] = gradedKinds[parsed.data.type];
  if (kinds.includes(kind)) return parsed.data;
  const message = `grades rows of kind ${kinds.join(' or ')}, not ${kind}`;
  throw refuse('grader', [{ pointer: '/type', message }]);
}

type Part = 'fields' | 'grader';

function parsePart(part: Part, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw refuse(part, [{ pointer: '', message: `not JSON: ${why}` }]);
  }
}

function refuse(part: Part, issues: readonly Issue[]): ProblemError {
  const placed = issues.map(({ pointer, message }) => ({ pointer: `/${part}${pointer}`, message }));
  return new ProblemError('invalid_query', inWords(placed), { issues: placed });
}
