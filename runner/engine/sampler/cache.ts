// Key/value caches of a number of rows, and one row beside them in which a prompt is computed: for every layer two buffers
// [rows, KV, capacity, hd]. What rows do between steps is one interface; how they move depends on where they lie.
import type { DecoderConfig } from '../models/config.ts';
import type { Runtime, Tensor } from '../ort/runtime.ts';
import { DeviceCache } from './device-cache.ts';
import { HostCache } from './host-cache.ts';

/** Tensors by input name and by output name of sampling's graphs: the same, so the update is in place. */
export interface CacheEnds {
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly outputs: Readonly<Record<string, Tensor>>;
}

export interface RowMove {
  readonly from: number;
  readonly to: number;
  /** Tokens that the row holds. */
  readonly length: number;
}

/**
 * Rules: a row holds what its own tokens wrote, and nothing that another row does changes it; what lies beyond its tokens
 * is never read. Only rows of the batch at work hold anything.
 */
export interface KeyValueCache extends Disposable {
  /** Rows of a batch, at most. */
  readonly rows: number;
  /** Tokens of a row, at most. */
  readonly capacity: number;
  /** The prompt's row: caches of a batch of 1. */
  prompt(): CacheEnds;
  /** Of a batch of `rows` rows. */
  batch(rows: number): CacheEnds;
  /** A batch of `rows` rows begins; its rows hold nothing. */
  begin(rows: number): void;
  /** The first `length` tokens of the prompt's row are copied to rows `slots`. */
  admit(slots: readonly number[], length: number): Promise<void>;
  /** The moves are made, and the batch goes on with its first `rows` rows; those that it had not before hold nothing. */
  resize(rows: number, moves: readonly RowMove[]): Promise<void>;
}

export function createCache(
  runtime: Runtime,
  config: DecoderConfig,
  rows: number,
  capacity: number,
): KeyValueCache {
  return runtime.provider === 'cpu'
    ? new HostCache(runtime, config, rows, capacity)
    : new DeviceCache(runtime, config, rows, capacity);
}
