// What the documentation says exists does: the folders in the README's tree, the files it links, the make targets
// it names, and the bench results whose names are promised never to change.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root })];

test.each(pages)('the links of %s lead to files', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? '');
  const dead = links.filter((link) => !existsSync(resolve(root, dirname(page), link)));
  expect(dead).toEqual([]);
});

test('the folders of the tree in the README exist', () => {
  const tree = read('README.md').split('## The tree')[1]?.split('```')[1] ?? '';
  const lines = [...tree.matchAll(/^( *)(\w+)\/( (\w+)\/)?/gm)];
  const folders = lines.flatMap(([, indent, first, , second]) => {
    const parent = indent === '' ? '' : 'runner/';
    return [first, second].filter((name) => name !== undefined).map((name) => parent + name);
  });
  expect(folders).toContain('runner/cascade');
  expect(folders.filter((folder) => !existsSync(resolve(root, folder)))).toEqual([]);
});

test('the make targets that the pages name exist', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/(?<=`|^)make ([a-z-]+)/gm)].map((match) => match[1]),
  );
  expect(named).toContain('test');
  const makefile = read('Makefile');
  expect(named.filter((target) => !new RegExp(`^${target}:`, 'm').test(makefile))).toEqual([]);
});

test('docs/bench.md lists every result of the benches', () => {
  const sources = globSync('test/bench/*.ts', { cwd: root }).map(read).join('\n');
  const names = [...sources.matchAll(/(?:summary|percentile)\(\s*(?:'([^']+)'|`([^`]+)`)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  expect(names).toContain('train_share_of_product');
  // A name with a place for a number or a word stands in the page with them.
  const patterns = names.map((name) => new RegExp(`\`${name.replaceAll(/\$\{\w+\}/g, '\\w+')}\``));
  expect(patterns.filter((pattern) => !pattern.test(read('docs/bench.md')))).toEqual([]);
});
