// A model's config.json in the store.
import type { ObjectStore } from '../../store/store.ts';
import { readJson } from './read-json.ts';

/** A config.json is a few kilobytes. */
const mostBytes = 1 << 20;

/** Below `prefix`, which ends with a slash; undefined where there is none that can be read. */
export const readConfig = (store: ObjectStore, prefix: string): Promise<unknown> =>
  readJson(store, `${prefix}config.json`, mostBytes);
