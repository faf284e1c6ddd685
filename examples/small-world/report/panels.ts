// Curves over steps, a panel a stage: the values as they are, thin, and their moving mean, thick. Every panel has its own scales:
// rewards of different graders are not comparable.
import { element, label, line, picture } from './svg.ts';

export interface Series {
  readonly title: string;
  /** By step, from 1; null: not measured. */
  readonly values: readonly (number | null)[];
}

const panel = { width: 280, height: 170, left: 48, right: 12, top: 34, bottom: 30 };
const columns = 3;
const colour = { raw: '#9ecae1', mean: '#08519c', axis: '#888888', grid: '#e6e6e6' };

export function panels(title: string, series: readonly Series[]): string {
  const rows = Math.max(1, Math.ceil(series.length / columns));
  const parts = series.map((one, at) =>
    element(
      'g',
      {
        transform: `translate(${(at % columns) * panel.width}, ${40 + Math.floor(at / columns) * panel.height})`,
      },
      panelOf(one),
    ),
  );
  return picture(columns * panel.width, 40 + rows * panel.height, title, parts);
}

function panelOf({ title, values }: Series): string {
  const points = values.flatMap((value, at) => (value === null ? [] : [{ step: at + 1, value }]));
  const heading = label(panel.left, 18, title, { 'font-weight': 'bold' });
  if (points.length === 0) return heading + label(panel.left, 60, 'not measured');
  const scale = scaleOf(points.map(({ value }) => value));
  const x = (step: number): number =>
    panel.left + ((step - 1) / Math.max(1, values.length - 1)) * (panel.width - panel.left - panel.right);
  const y = (value: number): number =>
    panel.top + ((scale.high - value) / (scale.high - scale.low)) * (panel.height - panel.top - panel.bottom);
  const averaged = movingMean(points.map(({ value }) => value));
  return [
    heading,
    ...scale.ticks.map((tick) => gridLine(y(tick), tick, scale.digits)),
    label(x(1), panel.height - 12, '1', { 'text-anchor': 'middle' }),
    label(x(values.length), panel.height - 12, `step ${values.length}`, { 'text-anchor': 'end' }),
    line(
      points.map(({ step, value }) => [x(step), y(value)]),
      { stroke: colour.raw, 'stroke-width': 1 },
    ),
    line(
      points.map(({ step }, at) => [x(step), y(averaged[at]!)]),
      { stroke: colour.mean, 'stroke-width': 2 },
    ),
  ].join('');
}

function gridLine(y: number, tick: number, digits: number): string {
  const ends = { x1: panel.left, x2: panel.width - panel.right, y1: y, y2: y };
  return (
    element('line', { ...ends, stroke: colour.grid }) +
    label(panel.left - 6, y + 4, tick.toFixed(digits), { 'text-anchor': 'end', fill: colour.axis })
  );
}

/** Round ticks around the values, five or so. */
export function scaleOf(values: readonly number[]) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rough = Math.max(high - low, Math.abs(high) * 1e-3, 1e-6) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!;
  const first = Math.floor(low / step);
  const count = Math.max(1, Math.ceil(high / step) - first);
  const ticks = Array.from({ length: count + 1 }, (_, at) => (first + at) * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return { low: ticks[0]!, high: ticks.at(-1)!, ticks, digits };
}

const windowSize = 9;

/** Of up to nine values around each. */
export const movingMean = (values: readonly number[]): number[] =>
  values.map((_, at) => {
    const around = values.slice(Math.max(0, at - (windowSize >> 1)), at + (windowSize >> 1) + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
