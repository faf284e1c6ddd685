// The client as a package that any Node program can install: `node infra/client-package/build.ts [FOLDER]` (default dist/client). Node
// runs no TypeScript below node_modules, so client and contract are compiled; nothing else of the tree is in it, and zod is
// all that it needs.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  engines: object;
  dependencies: Record<string, string>;
}

/** The folder, ready for `npm pack` and `npm publish`. @throws Error with what the compiler says. */
export function buildClientPackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = ['-p', join(root, 'infra/client-package/tsconfig.json'), '--outDir', folder];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the client does not compile: ${stdout}`);
  const whole = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifestOf(whole), null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(root, 'docs/client.md'), join(folder, 'README.md'));
}

/** The same names as in the repository, where package.json exports the sources themselves. */
const manifestOf = ({ name, version, license, engines, dependencies }: Manifest) => ({
  name,
  version,
  description: 'Typed client of the Millrace job service, and the schema of all that crosses the wire',
  license,
  type: 'module',
  engines,
  files: ['client.js', 'client.d.ts', 'client/', 'contract/'],
  exports: {
    './client': { types: './client.d.ts', default: './client.js' },
    './contract/*': { types: './contract/*.d.ts', default: './contract/*.js' },
  },
  dependencies: { zod: dependencies['zod'] },
});

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, 'dist/client'));
  buildClientPackage(folder);
  console.log(folder);
}
