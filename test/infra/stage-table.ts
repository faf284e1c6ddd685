// The table of docs/stages.md, made from the schemas: a row for each field of a stage, a column for each kind, with what the field is
// where it is left out.
import { leaves } from '../../api/contract/defaults.ts';
import { stage } from '../../api/contract/stage.ts';
import { rewardModelStage } from '../../api/contract/stages/reward-model.ts';

const schemas = [...stage.options, rewardModelStage];
type Schema = (typeof schemas)[number];

const kindOf = (schema: Schema): string => schema.shape.kind.value;

/** What each field is by itself: nested ones by their path. */
function fieldsOf(schema: Schema): Map<string, string> {
  const cells = new Map<string, string>();
  for (const [field, one] of Object.entries(schema.shape)) {
    if (field === 'kind') continue;
    const parsed = one.safeParse(undefined);
    if (!parsed.success) cells.set(field, 'required');
    else if (parsed.data === undefined) cells.set(field, 'optional');
    else
      for (const { pointer, value } of leaves(parsed.data))
        cells.set(`${field}${pointer.replaceAll('/', '.')}`, `\`${String(value)}\``);
  }
  return cells;
}

/** Lines of Markdown. `multi_domain` and `mixed` are one column: they are the same but for what they must cover. */
export function stageTable(): string[] {
  const columns = schemas.filter((schema) => kindOf(schema) !== 'mixed');
  const cells = columns.map(fieldsOf);
  const fields = [...new Set(cells.flatMap((column) => [...column.keys()]))];
  const shared = fields.filter((field) => cells.every((column) => column.has(field)));
  const ordered = [...shared, ...fields.filter((field) => !shared.includes(field))];
  const row = (first: string, others: readonly string[]) => `| ${[first, ...others].join(' | ')} |`;
  return [
    row('field', columns.map(kindOf)),
    row(
      '---',
      columns.map(() => '---'),
    ),
    ...ordered.map((field) =>
      row(
        `\`${field}\``,
        cells.map((column) => column.get(field) ?? ''),
      ),
    ),
  ];
}

export const sameFields = (): boolean => {
  const fields = (kind: string) =>
    JSON.stringify([...fieldsOf(schemas.find((schema) => kindOf(schema) === kind)!)]);
  return fields('mixed') === fields('multi_domain');
};
