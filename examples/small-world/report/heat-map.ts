// The matrix as a picture: a row a suite and mode, a column a point in the cascade, darker is better within the row's own range. A frame
// marks what a stage did to its own domain.
import type { Matrix, MatrixRow } from './matrix.ts';
import { columnTitle } from './matrix.ts';
import { element, label, picture } from './svg.ts';

const cell = { width: 84, height: 34 };
const left = 250;
const top = 70;

export function heatMap(
  title: string,
  { columns, rows }: Matrix,
  isOwn: (column: string, row: MatrixRow) => boolean,
): string {
  const heads = columns.map((column, at) =>
    label(left + (at + 0.5) * cell.width, top - 10, columnTitle(column), { 'text-anchor': 'middle' }),
  );
  const names = rows.map(({ path }, at) =>
    label(left - 10, top + (at + 0.5) * cell.height + 4, path, { 'text-anchor': 'end' }),
  );
  const cells = rows.flatMap((row, r) =>
    columns.map((column, c) => cellAt(row, c, { x: left + c * cell.width, y: top + r * cell.height })),
  );
  const frames = rows.flatMap((row, r) =>
    columns.flatMap((column, c) =>
      isOwn(column, row) ? [frameAt(left + c * cell.width, top + r * cell.height)] : [],
    ),
  );
  const width = left + columns.length * cell.width + 20;
  return picture(width, top + rows.length * cell.height + 20, title, [
    ...heads,
    ...names,
    ...cells,
    ...frames,
  ]);
}

function cellAt({ cells }: MatrixRow, at: number, { x, y }: { x: number; y: number }): string {
  const value = cells[at]?.value;
  const middle = { 'text-anchor': 'middle' };
  const box = { x: x + 1, y: y + 1, width: cell.width - 2, height: cell.height - 2 };
  const [textX, textY] = [x + cell.width / 2, y + cell.height / 2 + 4];
  if (value === undefined)
    return element('rect', { ...box, fill: '#f2f2f2' }) + label(textX, textY, '-', middle);
  const share = shareOf(
    value,
    cells.flatMap((one) => (one === undefined ? [] : [one.value])),
  );
  const fill = shade(share);
  const ink = share > 0.6 ? '#ffffff' : '#222222';
  return element('rect', { ...box, fill }) + label(textX, textY, value.toFixed(3), { ...middle, fill: ink });
}

const frameAt = (x: number, y: number): string =>
  element('rect', {
    ...{ x: x + 2, y: y + 2, width: cell.width - 4, height: cell.height - 4 },
    ...{ fill: 'none', stroke: '#d94801', 'stroke-width': 3 },
  });

/** Where a value stands in its row; a row that says the same everywhere is in the middle. */
function shareOf(value: number, values: readonly number[]): number {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high === low ? 0.5 : (value - low) / (high - low);
}

/** From near white to dark blue. */
function shade(share: number): string {
  const [light, dark] = [
    [247, 251, 255],
    [8, 81, 156],
  ] as const;
  const mixed = light.map((from, at) => Math.round(from + (dark[at]! - from) * share));
  return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
