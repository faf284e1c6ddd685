// The object store on anything that speaks S3. The bucket must exist; the store never makes or
// empties one. A process killed in a multipart upload leaves invisible parts on the server: clock
// work of the service clears those away (`unfinished`).
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Readable } from 'node:stream';

import { measureBody } from './body.ts';
import { checkRange, download } from './download.ts';
import { StoreProblem } from './error.ts';
import { checkKey } from './keys.ts';
import { s3Error, statusOf } from './s3-error.ts';
import { listing } from './s3-list.ts';
import { uploadObject } from './s3-upload.ts';
import type { ByteRange, ObjectStore } from './store.ts';

export interface S3Options {
  readonly bucket: string;
  /** Put before every key with a slash; '' for none. */
  readonly prefix?: string;
  readonly region: string;
  /** URL of the server; without it AWS S3 of the region. */
  readonly endpoint?: string;
  /** Bucket in the path instead of the host name; default: whether an endpoint is set. */
  readonly forcePathStyle?: boolean;
  /** Without them the SDK looks in the environment, the profile and the machine's role. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /**
   * When the SDK adds checksums of its own. `WHEN_SUPPORTED` uses trailers that several servers
   * refuse or store inside of the object, so `WHEN_REQUIRED` is the default with an endpoint.
   */
  readonly checksums?: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED';
  /** Bytes of a part, at least 5 MiB; default 8 MiB. */
  readonly partSize?: number;
  /** Parts in flight of one put; default 3. */
  readonly concurrency?: number;
}

const keysPerDelete = 1000; // S3's limit
const defaultPartSize = 8 << 20;
const maxAttempts = 4; // with the SDK's back-off: about a second until a dead server is named
const connectionTimeoutMs = 5_000;
const silenceTimeoutMs = 120_000; // completing an upload of many parts may take this long

export function s3Store(options: S3Options): ObjectStore {
  const { bucket, prefix = '', partSize = defaultPartSize, concurrency = 3 } = options;
  const base = prefix === '' ? '' : `${prefix}/`;
  const client = new S3Client(clientConfig(options));
  const endpoint = options.endpoint ?? `AWS S3 in ${options.region}`;
  const store = `s3://${bucket}/${prefix}`;
  const object = (key: string) => ({ Bucket: bucket, Key: base + key });

  const toStoreError = (operation: string, key: string) => (cause: unknown) =>
    s3Error({ store, operation, key }, endpoint, cause);

  /** Runs one operation; whatever it throws leaves as a StoreError that names the key. */
  async function boundary<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    checkKey(store, operation, key);
    try {
      return await run();
    } catch (cause) {
      throw toStoreError(operation, key)(cause);
    }
  }

  return {
    put(key, body, putOptions = {}) {
      return boundary('put', key, async () => {
        const measured = await measureBody(body, putOptions.sha256);
        const target = { client, bucket, key: base + key, partSize, concurrency };
        await uploadObject(target, measured, putOptions);
        return measured.result();
      });
    },
    get(key, { range } = {}) {
      return boundary('get', key, async () => {
        checkRange(range);
        const ranged = range === undefined ? {} : { Range: rangeHeader(range) };
        const answer = await client.send(new GetObjectCommand({ ...object(key), ...ranged }));
        // In Node the body is always a Readable; the SDK's type covers browsers too.
        return download(answer.Body as Readable, answer.ContentLength, toStoreError('get', key));
      });
    },
    head(key) {
      return boundary('head', key, async () => {
        try {
          const answer = await client.send(new HeadObjectCommand(object(key)));
          return { size: answer.ContentLength ?? 0 };
        } catch (error) {
          if (statusOf(error) === 404) return undefined;
          throw error;
        }
      });
    },
    ...listing({ client, bucket, base, store, toStoreError }),
    async delete(keys) {
      const all = typeof keys === 'string' ? [keys] : keys;
      for (const key of all) checkKey(store, 'delete', key);
      for (let at = 0; at < all.length; at += keysPerDelete) {
        const batch = all.slice(at, at + keysPerDelete);
        const [first = ''] = batch;
        await boundary('delete', first, () => deleteObjects(client, bucket, base, batch));
      }
    },
    presignGet(key, { expiresIn, filename }) {
      return boundary('presign', key, () => {
        const saved = filename === undefined ? {} : { ResponseContentDisposition: savedAs(filename) };
        // The presigner does not correct the clock as requests do.
        const signingDate = new Date(Date.now() + client.config.systemClockOffset);
        const command = new GetObjectCommand({ ...object(key), ...saved });
        return getSignedUrl(client, command, { expiresIn, signingDate });
      });
    },
    describe: () => store,
  };
}

async function deleteObjects(
  client: S3Client,
  bucket: string,
  base: string,
  keys: readonly string[],
): Promise<void> {
  const objects = keys.map((key) => ({ Key: base + key }));
  const input = { Bucket: bucket, Delete: { Objects: objects, Quiet: true } };
  const failed = (await client.send(new DeleteObjectsCommand(input))).Errors?.[0];
  if (failed === undefined) return;
  const code = failed.Code === 'AccessDenied' ? 'denied' : 'unreachable';
  const why = `${failed.Code ?? 'no reason given'}: ${failed.Message ?? ''}`;
  throw new StoreProblem(code, `the server did not delete ${failed.Key ?? 'a key'} (${why})`);
}

function clientConfig(options: S3Options): S3ClientConfig {
  const { endpoint, region, credentials, forcePathStyle = endpoint !== undefined } = options;
  const ownServer = endpoint === undefined ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED';
  const checksums = options.checksums ?? ownServer;
  return {
    region,
    forcePathStyle,
    maxAttempts,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: silenceTimeoutMs },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

function rangeHeader({ start, end }: ByteRange): string {
  return `bytes=${start}-${end ?? ''}`;
}

/** RFC 6266 with the UTF-8 form only, which every browser of today reads. */
function savedAs(filename: string): string {
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
