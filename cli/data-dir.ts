// Where a local service keeps its things, and how the other commands find it: one folder, known paths.
import { join, resolve } from 'node:path';
import type { Given } from './command.ts';

export interface DataDir {
  readonly root: string;
  /** Admin key, mode 0600. */
  readonly adminKey: string;
  /** Runner token, mode 0600. */
  readonly runnerToken: string;
  /** Address of the running (or last) service. */
  readonly url: string;
  readonly lock: string;
  /** What `serve` started, for the next one to stop if this one is killed. */
  readonly processes: string;
  readonly logs: string;
  readonly store: string;
  readonly scratch: string;
  /** Checkpoints that were fetched to be talked to. */
  readonly models: string;
}

export function dataDirAt(path: string): DataDir {
  const root = resolve(path);
  return {
    root,
    adminKey: join(root, 'admin.key'),
    runnerToken: join(root, 'runner.token'),
    url: join(root, 'url'),
    lock: join(root, 'serve.lock'),
    processes: join(root, 'processes.json'),
    logs: join(root, 'logs'),
    store: join(root, 'store'),
    scratch: join(root, 'scratch'),
    models: join(root, 'models'),
  };
}

/** --data-dir, else $MILLRACE_DATA, else .millrace in the current directory. */
export const chosenDataDir = (given: Given): DataDir =>
  dataDirAt(given.text('data-dir') ?? process.env['MILLRACE_DATA'] ?? '.millrace');
