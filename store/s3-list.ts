// What lies in a bucket below the store's prefix: objects, folders, uploads that never ended.
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';

import type { StoreError } from './error.ts';
import { checkPrefix, isAfter, keyProblem } from './keys.ts';
import { statusOf } from './s3-error.ts';
import type { ObjectEntry, ObjectStore, UnfinishedUpload } from './store.ts';

interface Place {
  readonly client: S3Client;
  readonly bucket: string;
  /** Empty, or the store's prefix with its slash. */
  readonly base: string;
}

export interface Listed extends Place {
  /** The store's place, for messages. */
  readonly store: string;
  readonly toStoreError: (operation: string, key: string) => (cause: unknown) => StoreError;
}

/** What of a store only lists; whatever it throws leaves as a StoreError. */
export function listing(listed: Listed): Pick<ObjectStore, 'list' | 'folders' | 'unfinished'> {
  const { store, toStoreError } = listed;
  async function* boundary<T>(prefix: string, found: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    checkPrefix(store, prefix);
    try {
      yield* found;
    } catch (cause) {
      throw toStoreError('list', prefix)(cause);
    }
  }
  return {
    list: (prefix) => boundary(prefix, listObjects(listed, prefix)),
    folders: (prefix, after) => boundary(prefix, listFolders(listed, prefix, after)),
    async *unfinished() {
      for await (const one of boundary('', listUnfinished(listed)))
        yield {
          ...one,
          abort: () =>
            one.abort().catch((cause: unknown) => {
              throw toStoreError('abort', one.key)(cause);
            }),
        };
    },
  };
}

async function* listObjects(
  { client, bucket, base }: Place,
  prefix: string,
): AsyncGenerator<ObjectEntry, void, undefined> {
  const input = { Bucket: bucket, Prefix: base + prefix };
  for await (const page of paginateListObjectsV2({ client }, input))
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      const key = Key?.slice(base.length) ?? '';
      // Not ours, for example the empty `folder/` objects that consoles make.
      if (keyProblem(key) !== undefined) continue;
      // A server that tells no time leaves nothing to judge by: what is from now is young.
      yield { key, size: Size ?? 0, modified: LastModified ?? new Date() };
    }
}

async function* listFolders(
  { client, bucket, base }: Place,
  prefix: string,
  after: string | undefined,
): AsyncGenerator<string, void, undefined> {
  const whole = base + prefix;
  // 0 is what follows the slash: all keys of the folder lie before it.
  const from = after === undefined ? {} : { StartAfter: `${whole}${after}0` };
  const input = { Bucket: bucket, Prefix: whole, Delimiter: '/', ...from };
  for await (const page of paginateListObjectsV2({ client }, input))
    for (const { Prefix = '' } of page.CommonPrefixes ?? []) {
      const name = Prefix.slice(whole.length, -1);
      if (keyProblem(name) === undefined && isAfter(name, after)) yield name;
    }
}

async function* listUnfinished({
  client,
  bucket,
  base,
}: Place): AsyncGenerator<UnfinishedUpload, void, undefined> {
  let next = {};
  for (;;) {
    const page = await client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: base, ...next }),
    );
    for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
      if (keyProblem(Key.slice(base.length)) !== undefined) continue;
      const abort = async (): Promise<void> => {
        const upload = { Bucket: bucket, Key, UploadId };
        await client.send(new AbortMultipartUploadCommand(upload)).catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error;
        });
      };
      yield { key: Key.slice(base.length), begun: Initiated ?? new Date(), abort };
    }
    if (page.IsTruncated !== true) return;
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
