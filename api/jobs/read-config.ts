// A model's config.json in the store.
import { text } from 'node:stream/consumers';
import { StoreError } from '../../store/error.ts';
import { keyProblem } from '../../store/keys.ts';
import type { ObjectStore } from '../../store/store.ts';

/** A config.json is a few kilobytes. */
const mostBytes = 1 << 20;

/** Below `prefix`, which ends with a slash; undefined where there is none that can be read. */
export async function readConfig(store: ObjectStore, prefix: string): Promise<unknown> {
  const key = `${prefix}config.json`;
  if (keyProblem(key) !== undefined) return undefined;
  try {
    const found = await store.head(key);
    if (found === undefined || found.size > mostBytes) return undefined;
    return JSON.parse(await text(await store.get(key)));
  } catch (error) {
    if (error instanceof StoreError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
