// What every object store can do. A store keeps immutable blobs under keys and knows no job,
// no checkpoint and no project. Two implementations (filesystem, s3) run one contract suite.
import type { Readable } from 'node:stream';

/** Bytes in memory, a local file, or a stream whose size in bytes is known beforehand. */
export type ObjectBody =
  Uint8Array | { readonly path: string } | { readonly stream: Readable; readonly size: number };

export interface PutOptions {
  /** Expected SHA-256 in lower-case hex: other bytes are refused as `corrupt`, nothing is stored. */
  readonly sha256?: string;
  readonly contentType?: string;
  /**
   * Refuse with `conflict` when the key exists. Atomic on the filesystem and for S3 objects sent
   * in one piece; S3 servers that ignore the condition on a multipart completion leave a race.
   */
  readonly ifNoneMatch?: '*';
}

/** First and last byte, both inclusive, from 0; without `end` up to the object's end. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface ObjectEntry {
  readonly key: string;
  readonly size: number;
  /** By the store's own clock. */
  readonly modified: Date;
}

/** An upload in parts that was begun and neither completed nor given up. It is no object and is paid for all the same. */
export interface UnfinishedUpload {
  readonly key: string;
  readonly begun: Date;
  /** Frees its parts; no error where it has ended meanwhile. */
  abort(): Promise<void>;
}

export interface PutResult {
  readonly size: number;
  /** SHA-256 of the stored bytes, lower-case hex. */
  readonly sha256: string;
}

export interface PresignOptions {
  /** Seconds for which the URL is valid. */
  readonly expiresIn: number;
  /** Name under which a browser saves the file. */
  readonly filename?: string;
}

/**
 * Every method throws `StoreError` only. Keys are `a/b/c`: see `checkKey` in keys.ts.
 */
export interface ObjectStore {
  /**
   * Stores a whole object, replacing a former one. Memory is bounded whatever the size; until
   * it resolves the object is not visible, and after a failure or a kill it never becomes so.
   */
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<PutResult>;
  /** Streams an object; a broken transfer destroys the stream with a `StoreError`. Consume or destroy it. */
  get(key: string, options?: { readonly range?: ByteRange }): Promise<Readable>;
  head(key: string): Promise<{ readonly size: number } | undefined>;
  /** Objects whose key starts with `prefix` (any string), in the byte order of their keys. */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /**
   * Names of the folders directly below `prefix` (empty, or with its slash at the end), in the order of `list`; those that
   * follow the folder `after`.
   */
  folders(prefix: string, after?: string): AsyncIterable<string>;
  /** Uploads whose writer has died, or is still at it. A store that clears up after its writers by itself has none. */
  unfinished(): AsyncIterable<UnfinishedUpload>;
  /** Deletes what exists; a key that does not exist is no error. */
  delete(keys: string | readonly string[]): Promise<void>;
  /** A URL that anyone can GET, or undefined where the store serves none. */
  presignGet(key: string, options: PresignOptions): Promise<string | undefined>;
  /** The store's place for messages: its URL, without secrets. */
  describe(): string;
}
