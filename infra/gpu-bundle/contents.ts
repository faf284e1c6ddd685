// What of node_modules goes into the bundle for machines with a GPU: the packages that the suites and the bench load, with
// what these depend on, less what only people, compilers and other platforms read.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The size that an archive may have. */
export const limitBytes = 60 * 1024 * 1024;

/** What the engine, the cascade, their suites and the bench import. */
export const rootPackages: readonly string[] = [
  'koffi',
  'onnxruntime-node',
  'protobufjs',
  'zod',
  '@huggingface/tokenizers',
  '@huggingface/jinja',
  'vite',
  'vitest',
];

/** Needed by what is never called here: a style sheet's compiler, and what installing onnxruntime-node takes. */
const leftOut = /^(lightningcss|adm-zip|global-agent|@types\/.*)$/;

interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const forReaders = /\.(map|flow|md|markdown|tsbuildinfo)$|\.d\.[cm]?ts$/i;
const forOthers: readonly RegExp[] = [
  /^koffi\/(vendor\/|cnoke\.cjs|.*\.(cc|hh|[chS]|asm|def|inc)$)/,
  /^@koromix\/koffi-linux-x64\/musl_x64\//,
  /^onnxruntime-node\/(lib|script)\//,
  /^onnxruntime-node\/bin\/(?!napi-v6\/linux\/x64\/libonnxruntime\.so\.\d+$)/,
  /^zod\/src\//,
  /^protobufjs\/dist\//,
];

/** Whether a file of node_modules is of use where the bundle runs. Licences stay. */
export function isKept(path: string): boolean {
  if (/(^|\/)(licen[cs]e|notice|copying)[^/]*$/i.test(path)) return true;
  return !forReaders.test(path) && !forOthers.some((pattern) => pattern.test(path));
}

/** Where the package that `from` (a folder in node_modules, or '') imports as `name` lies, as Node looks for it. */
function placeOf(modules: string, from: string, name: string): string | undefined {
  const parts = from === '' ? [] : from.split('/node_modules/');
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const place = [...parts.slice(0, depth), name].join('/node_modules/');
    if (existsSync(join(modules, place, 'package.json'))) return place;
  }
  return undefined;
}

/**
 * Folders in `modules` of the packages and of all that they depend on, sorted. Optional ones that are not installed are
 * other platforms'. Throws on a missing one.
 */
export function packageFolders(modules: string, roots: readonly string[] = rootPackages): string[] {
  const found = new Set<string>();
  const visit = (from: string, name: string, optional: boolean): void => {
    if (leftOut.test(name)) return;
    const place = placeOf(modules, from, name);
    if (place === undefined && optional) return;
    if (place === undefined) throw new Error(`${name} is not installed: run npm ci`);
    if (found.has(place)) return;
    found.add(place);
    const text = readFileSync(join(modules, place, 'package.json'), 'utf8');
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text) as PackageManifest;
    for (const one of Object.keys(optionalDependencies)) visit(place, one, true);
    for (const one of Object.keys(dependencies)) visit(place, one, one in optionalDependencies);
  };
  for (const name of roots) visit('', name, false);
  return [...found].sort();
}
