// docs/stages.md and docs/presets.md say what the schemas and presets say: their tables are made from them, so that a changed default
// or a new field is noticed here. The failing test prints the table that belongs into the page.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { presets } from '../../api/contract/presets/presets.ts';
import { sameFields, stageTable } from './stage-table.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
/** Tables without the padding of their cells. */
const plain = (text: string): string => text.replaceAll(/ *\| */g, '|').replaceAll(/-+/g, '-');

test('docs/stages.md has every field of every kind with its default', () => {
  expect(plain(read('docs/stages.md'))).toContain(plain(stageTable().join('\n')));
  expect(sameFields()).toBe(true);
});

test.each(Object.entries(presets))(
  'docs/presets.md has the stages of %s, and what it omits',
  (name, preset) => {
    const page = read('docs/presets.md');
    const section = page.split(`## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
    const rows = [...section.matchAll(/^\| `([a-z0-9-]+)` \| (\w+) \| (.+?) \|/gm)];
    expect(rows.map(([, stage, kind, source]) => [stage, kind, source])).toEqual(
      preset.stages.map(({ name: stage, values, source }) => [stage, values.kind, source]),
    );
    for (const { name: omitted } of preset.omitted) expect(section).toContain(`\`${omitted}\``);
  },
);
