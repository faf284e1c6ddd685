// The store on R2: the contract, on the R2 of workerd, which is what the binding of a local Worker speaks to.
import { resolve } from 'node:path';
import { getPlatformProxy } from 'wrangler';
import type { R2Bucket } from '../../store/r2-bucket.ts';
import { r2Store } from '../../store/r2.ts';
import { offline } from '../support/worker.ts';
import { storeCases } from './cases.ts';

storeCases(async () => {
  Object.assign(process.env, offline);
  const { env, dispose } = await getPlatformProxy<{ OBJECTS: R2Bucket }>({
    configPath: resolve(import.meta.dirname, '../../wrangler.toml'),
    persist: false,
  });
  return {
    store: r2Store({ bucket: env.OBJECTS, name: 'objects', prefix: 'below/here', partSize: 5 << 20 }),
    remove: dispose,
  };
});
