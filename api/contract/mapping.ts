// From a foreign row to a row of ours: columns picked by name or by another column's value, the gold cut out of
// a worked solution, then the schema of the kind. Pure; columns that nothing asks for are dropped.
import type { z } from 'zod';
import type { FieldMapping, FieldSource, RowIssue, answerFormat } from './dataset.ts';
import { issuesOf } from './issues.ts';
import type { DatasetKind, RowOf } from './task.ts';
import { rowSchemas } from './task.ts';

export interface RowMapping {
  readonly kind: DatasetKind;
  /** Of our fields those that stand under another name; the rest is looked up under its own. */
  readonly fields: FieldMapping;
  readonly answerFormat: z.infer<typeof answerFormat>;
}

type RowFault = Omit<RowIssue, 'row'>;
export type MappedRow = { readonly row: RowOf<DatasetKind> } | { readonly faults: readonly RowFault[] };

/** The fields that rows of a kind have. */
export const fieldsOf = (kind: DatasetKind): string[] => Object.keys(rowSchemas[kind].shape);

export function mapRow(foreign: unknown, mapping: RowMapping): MappedRow {
  if (typeof foreign !== 'object' || foreign === null || Array.isArray(foreign))
    return { faults: [{ pointer: '', message: 'a row must be a JSON object' }] };
  const columns = foreign as Record<string, unknown>;
  const faults: RowFault[] = [];
  const ours: Record<string, unknown> = {};
  for (const field of fieldsOf(mapping.kind)) {
    const source = mapping.fields[field];
    if (source === undefined && !Object.hasOwn(columns, field) && mayBeAbsent(mapping.kind, field)) continue;
    const picked = pick(columns, source ?? field);
    if ('fault' in picked) faults.push({ pointer: `/${field}`, message: picked.fault });
    else ours[field] = picked.value;
  }
  if (faults.length === 0 && 'answer' in ours && mapping.answerFormat === 'gsm8k') cutGsm8kGold(ours, faults);
  if (faults.length > 0) return { faults };
  const parsed = rowSchemas[mapping.kind].safeParse(ours);
  if (parsed.success) return { row: parsed.data };
  return { faults: issuesOf(parsed.error) };
}

const mayBeAbsent = (kind: DatasetKind, field: string): boolean => {
  const shape: Readonly<Record<string, z.ZodType>> = rowSchemas[kind].shape;
  return shape[field]?.safeParse(undefined).success === true;
};

function pick(columns: Record<string, unknown>, source: FieldSource): { value: unknown } | { fault: string } {
  if (typeof source === 'string')
    return Object.hasOwn(columns, source) ? { value: columns[source] } : { fault: noColumn(columns, source) };
  if (!Object.hasOwn(columns, source.by)) return { fault: noColumn(columns, source.by) };
  const value = columns[source.by];
  const label = typeof value === 'object' ? undefined : String(value);
  if (label === undefined || !Object.hasOwn(source.cases, label))
    return {
      fault: `no case for the value of column ${quote(source.by)}; there are ${quote(Object.keys(source.cases).join(', '))}`,
    };
  return pick(columns, source.cases[label] as string);
}

const noColumn = (columns: Record<string, unknown>, wanted: string): string =>
  `the row has no column ${quote(wanted)}, only ${quote(Object.keys(columns).join(', '))}: rename it, or say the right one in \`fields\` when the rows are registered by HTTP`;

/** GSM8K ends its worked solutions with a line "#### 42". */
function cutGsm8kGold(ours: Record<string, unknown>, faults: RowFault[]): void {
  const solution = ours['answer'];
  const parts = typeof solution === 'string' ? solution.split('####') : [];
  const gold = parts.length > 1 ? (parts.at(-1) ?? '').trim() : '';
  if (gold !== '') ours['answer'] = gold;
  else
    faults.push({
      pointer: '/answer',
      message: 'answer_format gsm8k wants a string that ends with "####" and the gold',
    });
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 200));
