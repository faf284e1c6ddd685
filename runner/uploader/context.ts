// What every transfer works with.
import type { ObjectStore } from '../../store/store.ts';
import type { Patience } from './retry.ts';

export interface TransferContext {
  readonly store: ObjectStore;
  /** Opens another store by its URL, with the same credentials. */
  readonly openOther: (url: string) => ObjectStore;
  readonly patience: Patience;
}
