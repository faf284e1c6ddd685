// IFBench's `custom:` constraints on tables: comma or tab delimited data of given columns.
import type { z } from 'zod';
import type { ifbenchArguments } from '../../../../api/contract/instructions/ifbench.ts';
import type { Check } from '../check.ts';
import type { Field } from './text/csv.ts';
import { csvRows } from './text/csv.ts';

type Of<Id extends keyof typeof ifbenchArguments> = Check<z.infer<(typeof ifbenchArguments)[Id]>>;

/** The rows below the header; undefined where header, number of rows or width differ from what is asked. */
function table(
  response: string,
  delimiter: string,
  columns: readonly string[],
  rows: number,
): Field[][] | undefined {
  const [header, ...body] = csvRows(response, delimiter);
  const named = header!.map(({ text }) => text.trim()).join('\n') === columns.join('\n');
  return named && body.length === rows && body.every((row) => row.length === columns.length)
    ? body
    : undefined;
}

export const csvCity: Of<'custom:csv_city'> = (response) =>
  table(response, ',', ['ID', 'Country', 'City', 'Year', 'Count'], 7) !== undefined;

/** One field or more with something other than letters, digits and white space, in double quotes. */
export const csvSpecialCharacter: Of<'custom:csv_special_character'> = (response) => {
  const rows = table(response, ',', ['ProductID', 'Category', 'Brand', 'Price', 'Stock'], 14);
  return rows?.flat().some(({ text, quoted }) => quoted && /[^\p{L}\p{N}\s]/u.test(text)) ?? false;
};

/** Every field in double quotes, the column names too. */
export const csvQuotes: Of<'custom:csv_quotes'> = (response) =>
  table(response, '\t', ['StudentID', 'Subject', 'Grade', 'Semester', 'Score'], 3) !== undefined &&
  csvRows(response, '\t')
    .flat()
    .every(({ quoted }) => quoted);
