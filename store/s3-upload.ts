// One put to S3: in one request when the object is small, else in parts, of which a bounded
// number is in memory. Every put carries an id of its own in the object's metadata, by which a
// HEAD afterwards tells our object from an older or a concurrent one.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import { DeleteObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

import type { MeasuredBody } from './body.ts';
import { StoreProblem } from './error.ts';
import { statusOf } from './s3-error.ts';
import type { PutOptions } from './store.ts';

/** Metadata name of the put's id. */
const putIdName = 'millrace-put';
const maxParts = 9_999; // S3 allows 10,000
const mebibyte = 1 << 20;

export interface UploadTarget {
  readonly client: S3Client;
  readonly bucket: string;
  /** The key in the bucket, with the store's prefix. */
  readonly key: string;
  /** Bytes of a part; larger objects than 9,999 parts of it use larger parts. */
  readonly partSize: number;
  /** Parts in flight. */
  readonly concurrency: number;
}

/** Uploads a body and proves that the whole object is there. Throws the SDK's errors and StoreProblem. */
export async function uploadObject(
  target: UploadTarget,
  body: MeasuredBody,
  options: PutOptions,
): Promise<void> {
  const putId = randomUUID();
  try {
    await send(target, body, options, putId);
  } catch (error) {
    // The SDK repeats a request whose answer got lost. Where the first one had been obeyed, the
    // second finds the upload gone (404) or the object present (412): look who put it.
    const status = statusOf(error);
    if (status !== 404 && status !== 412) throw error;
    if ((await stored(target))?.putId !== putId) throw error;
  }
  await verify(target, body, putId);
}

async function send(
  { client, bucket, key, partSize, concurrency }: UploadTarget,
  body: MeasuredBody,
  { contentType, ifNoneMatch }: PutOptions,
  putId: string,
): Promise<void> {
  const smallest = Math.ceil(body.size / maxParts / mebibyte) * mebibyte;
  const source = Readable.from(body.chunks, { objectMode: false });
  const upload = new Upload({
    client,
    partSize: Math.max(partSize, smallest),
    queueSize: concurrency,
    params: {
      Bucket: bucket,
      Key: key,
      Body: source,
      Metadata: { [putIdName]: putId },
      ...(contentType === undefined ? {} : { ContentType: contentType }),
      ...(ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch }),
    },
  });
  try {
    await upload.done(); // aborts the multipart upload when it fails
  } finally {
    source.destroy();
  }
}

interface Stored {
  readonly size: number | undefined;
  readonly putId: string | undefined;
}

async function stored({ client, bucket, key }: UploadTarget): Promise<Stored | undefined> {
  try {
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return { size: head.ContentLength, putId: head.Metadata?.[putIdName] };
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Some servers complete a multipart upload with parts missing: such an object is removed. */
async function verify(target: UploadTarget, body: MeasuredBody, putId: string): Promise<void> {
  const found = await stored(target);
  if (found === undefined)
    throw new StoreProblem('corrupt', 'the server took the object but does not have it');
  // Another writer replaced ours in the meantime: its object is not ours to judge.
  if (found.putId !== putId) return;
  if (found.size === body.size) return;
  const { client, bucket, key } = target;
  await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  const problem = `the server stored ${found.size ?? 'an unknown number of'} of ${body.size} bytes; the object was removed`;
  throw new StoreProblem('corrupt', problem);
}
