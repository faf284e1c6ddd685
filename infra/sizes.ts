// `npm run sizes`: how large the files and functions are, folder by folder, against the budget of CONTRIBUTING.
// Exit 1 if one is above it. Lines are counted as they stand; a function counts without its blank and comment
// lines, as the linter counts it, and a describe callback or a contract suite is a list of tests, no function.
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Measured, measure } from './measure.ts';

const root = resolve(import.meta.dirname, '..');
const folders = ['api', 'cli', 'db', 'runner', 'store', 'infra', 'examples', 'test'];
const budget = { file: 400, function: 80 };

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function spread(lines: readonly number[]): string {
  const sorted = lines.toSorted((a, b) => a - b);
  return [percentile(sorted, 0.5), percentile(sorted, 0.9), sorted.at(-1) ?? 0]
    .map((value) => String(value).padStart(4))
    .join(' /');
}

function row(folder: string, files: readonly Measured[], functions: readonly Measured[]): string {
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  return [
    folder.padEnd(8),
    String(files.length).padStart(5),
    String(lines).padStart(7),
    spread(files.map((file) => file.lines)).padStart(20),
    String(functions.length).padStart(10),
    spread(functions.map((fn) => fn.lines)).padStart(20),
  ].join(' ');
}

const files: Measured[] = [];
const functions: Measured[] = [];
console.log('folder   files   lines   median / p90 / max  functions   median / p90 / max');
for (const folder of folders) {
  const paths = globSync(`${folder}/**/*.ts`, { cwd: root }).sort();
  if (paths.length === 0) continue;
  const measured = paths.map((path) => measure(path, readFileSync(resolve(root, path), 'utf8')));
  const folderFunctions = measured.flatMap((each) => each.functions);
  console.log(
    row(
      folder,
      measured.map((each) => each.file),
      folderFunctions,
    ),
  );
  files.push(...measured.map((each) => each.file));
  functions.push(...folderFunctions);
}
console.log(row('all', files, functions));

const over = [
  ...files.filter((file) => file.lines > budget.file),
  ...functions.filter((fn) => fn.lines > budget.function),
];
for (const { name, lines } of over) console.error(`above the budget: ${name}, ${lines} lines`);
if (over.length > 0) {
  console.error(
    `A file has at most ${budget.file} lines and a function ${budget.function}: split by concept.`,
  );
  process.exitCode = 1;
}
