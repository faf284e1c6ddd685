// A JSON file of a model in the store.
import { text } from 'node:stream/consumers';
import { StoreError } from '../../store/error.ts';
import { keyProblem } from '../../store/keys.ts';
import type { ObjectStore } from '../../store/store.ts';

/** Undefined where there is none that can be read, or one of more bytes. */
export async function readJson(store: ObjectStore, key: string, mostBytes: number): Promise<unknown> {
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
