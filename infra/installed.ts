// Exit 0 if node_modules is what package-lock.json says, else 1. Reads npm's own record of the installed tree
// instead of a stamp, so that a package added by hand in between is not taken for a stale tree.
// Runs before anything is installed: Node's own modules only.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

type Packages = Readonly<Record<string, LockedPackage>>;

function packagesOf(lockfile: string): Packages {
  const text = readFileSync(resolve(import.meta.dirname, '..', lockfile), 'utf8');
  return (JSON.parse(text) as { packages: Packages }).packages;
}

/** Names of packages that are missing or of another version. Optional ones may be missing: other platforms'. */
export function disagreements(locked: Packages, installed: Packages): string[] {
  return Object.entries(locked)
    .filter(([path, { version, optional, devOptional }]) => {
      if (path === '') return false;
      const found = installed[path];
      if (found === undefined) return !(optional || devOptional);
      return found.version !== version;
    })
    .map(([path]) => path);
}

function isInstalled(): boolean {
  try {
    return (
      disagreements(packagesOf('package-lock.json'), packagesOf('node_modules/.package-lock.json')).length ===
      0
    );
  } catch {
    return false; // no record, or one cut short: nothing usable is installed
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) process.exit(isInstalled() ? 0 : 1);
