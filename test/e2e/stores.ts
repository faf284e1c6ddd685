// The stores that the end-to-end tests run on: a folder, and a real S3 server where this machine can have one.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { newBucket, noRgw, sharedRgw } from '../support/rgw.ts';

export interface StoreChoice {
  readonly name: string;
  /** Why this machine cannot have it, or false. */
  readonly missing: string | false;
  /** Whether a broken pull goes on inside a file; the API sends the files of a folder whole. */
  readonly ranges: boolean;
  open(dir: string): Promise<{ storeUrl: string; storeEnv: Record<string, string> }>;
}

export const stores: readonly StoreChoice[] = [
  {
    name: 'the filesystem store',
    missing: false,
    ranges: false,
    open: (dir) => Promise.resolve({ storeUrl: pathToFileURL(join(dir, 'store')).href, storeEnv: {} }),
  },
  {
    name: 'a real S3 server',
    missing: noRgw,
    ranges: true,
    async open() {
      const { url, env } = await newBucket(await sharedRgw());
      return { storeUrl: url, storeEnv: env };
    },
  },
];
