// From a URL and the environment to a store: what the API, the runner and the CLI are configured with.
import { fileURLToPath } from 'node:url';

import { StoreError } from './error.ts';
import { filesystemStore } from './filesystem.ts';
import type { ObjectStore } from './store.ts';

/**
 * Opens `file:///folder`. Nothing is contacted or created yet.
 * @throws StoreError `invalid` for any other URL.
 */
export function openStore(url: string): ObjectStore {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'file:' && parsed.host === '')
    return filesystemStore(fileURLToPath(parsed));
  const problem = 'not a store URL; use file:///absolute/folder or s3://bucket/prefix';
  throw new StoreError('invalid', { store: url, operation: 'open', problem });
}
