// The filter of a list by metadata, as OpenAI's clients write it into a query: metadata[KEY]=VALUE, or metadata=null.
import { metadata } from '../contract/fine-tuning.ts';
import { issuesOf } from '../contract/issues.ts';
import { inWords, ProblemError } from '../problem.ts';

/** Undefined where the query has none. @throws ProblemError invalid_query. */
export function metadataFilter(
  query: Readonly<Record<string, unknown>>,
): Record<string, string> | null | undefined {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name === 'metadata') continue;
    const key = /^metadata\[(.+)\]$/s.exec(name)?.[1];
    if (key === undefined)
      throw refuse([{ pointer: `/${name.slice(0, 100)}`, message: 'there is no such parameter' }]);
    entries.push([key, value]);
  }
  if (query['metadata'] === 'null' && entries.length === 0) return null;
  if (entries.length === 0) return undefined;
  const parsed = metadata.safeParse(Object.fromEntries(entries));
  if (!parsed.success) throw refuse(issuesOf(parsed.error));
  return parsed.data;
}

const refuse = (issues: { pointer: string; message: string }[]): ProblemError =>
  new ProblemError('invalid_query', inWords(issues, 'the query'), { issues });
