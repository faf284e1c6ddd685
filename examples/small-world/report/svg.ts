// SVG as text: elements with escaped attributes, nothing else.

type Attributes = Readonly<Record<string, string | number>>;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[mark]!);

/** Coordinates to a hundredth: enough for the eye, and the same file everywhere. */
const shown = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 100) / 100) : escaped(value);

export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${shown(value)}"`);
  return content === ''
    ? `<${name}${written.join('')}/>`
    : `<${name}${written.join('')}>${content}</${name}>`;
}

export const label = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  element('text', { x, y, ...attributes }, escaped(text));

export const line = (points: readonly (readonly [number, number])[], attributes: Attributes): string =>
  element('polyline', {
    points: points.map((point) => point.map(shown).join(',')).join(' '),
    fill: 'none',
    ...attributes,
  });

/** A whole picture on white, with a title above it. */
export function picture(width: number, height: number, title: string, parts: readonly string[]): string {
  const background = element('rect', { width, height, fill: '#ffffff' });
  const heading = label(16, 26, title, { 'font-size': 16, 'font-weight': 'bold' });
  const content = [background, heading, ...parts].join('\n');
  return `${element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      ...{ width, height, viewBox: `0 0 ${width} ${height}` },
      ...{ 'font-family': 'Helvetica, Arial, DejaVu Sans, sans-serif', 'font-size': 11, fill: '#222222' },
    },
    `\n${content}\n`,
  )}\n`;
}
