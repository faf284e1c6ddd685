// Results of the long acceptance runs, kept with the repository under the commit that gave them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join, relative, resolve } from 'node:path';

export interface Curve {
  readonly evaluations: readonly { after: string; value: number; low: number; high: number }[];
  /** Mean reward of each step of the RL stage, from step 1. */
  readonly rewards: readonly number[];
}

const root = resolve(import.meta.dirname, '../..');

/** docs/results/<commit>, made if it is not there. */
export function resultsFolder(): string {
  const folder = join(root, 'docs/results', commitNow());
  mkdirSync(folder, { recursive: true });
  return folder;
}

export const commitNow = (): string => git('rev-parse', '--short=12', 'HEAD');

/** Writes docs/results/<commit>/<name>.json and returns its path from the repository's root. */
export function writeResults(name: string, figures: object): string {
  const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
  const file = join(resultsFolder(), `${name}.json`);
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    threads: availableParallelism(),
    node: process.version,
  };
  writeFileSync(
    file,
    // Specs name files where the clone lies.
    `${JSON.stringify({ commit: commitNow(), changed, ...machine, ...figures }, null, 1).replaceAll(`${root}/`, '')}\n`,
  );
  return relative(root, file);
}

const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
