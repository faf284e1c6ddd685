// The S3 store against a real server: the contract, and what only a network and a server do.
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { presigner } from '../../store/presign.ts';
import { s3Store, type S3Options } from '../../store/s3.ts';
import { newBucket, noRgw, sharedRgw, type Rgw } from '../support/rgw.ts';
import { bytesOf, generatedStream, keysOf, textAt } from './bytes.ts';
import { storeCases, storeError } from './cases.ts';
import { startFaultProxy, type Fault } from './fault-proxy.ts';

const mebibyte = 1 << 20;
const multipartSize = 12 * mebibyte;

let rgw: Rgw;
let bucket: string;

function options(changes: Partial<S3Options> = {}): S3Options {
  return {
    bucket,
    region: 'us-east-1',
    endpoint: rgw.endpoint,
    credentials: { accessKeyId: rgw.accessKey, secretAccessKey: rgw.secretKey },
    partSize: 5 * mebibyte,
    concurrency: 2,
    ...changes,
  };
}

/** Multipart uploads that were begun and neither completed nor aborted. */
async function openUploads(): Promise<string[]> {
  const { endpoint, region, credentials } = options();
  const config = { region, forcePathStyle: true, ...(endpoint === undefined ? {} : { endpoint }) };
  const client = new S3Client({ ...config, ...(credentials === undefined ? {} : { credentials }) });
  const listed = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return (listed.Uploads ?? []).map(({ Key }) => Key ?? '');
}

describe.skipIf(noRgw)(`S3 ${noRgw || '(Ceph RADOS Gateway)'}`, () => {
  beforeAll(async () => {
    rgw = await sharedRgw();
    ({ bucket } = await newBucket(rgw));
  }, 400_000);

  describe('contract', () => {
    storeCases(async () => {
      const own = await newBucket(rgw);
      return {
        store: s3Store(options({ bucket: own.bucket, prefix: 'in/a prefix' })),
        url: `${own.url}/in/a%20prefix`,
        env: own.env,
        remove: () => Promise.resolve(), // the server keeps nothing
      };
    });
  });

  describe('a prefix', () => {
    it('keeps stores in one bucket apart', async () => {
      const [one, two] = [s3Store(options({ prefix: 'p/1' })), s3Store(options({ prefix: 'p/10' }))];
      await one.put('x', Buffer.from('one'));
      await two.put('x', Buffer.from('two'));
      expect(await keysOf(one)).toEqual(['x']);
      expect(await textAt(two, 'x')).toBe('two');
      expect(await keysOf(s3Store(options()), 'p/')).toEqual(['p/1/x', 'p/10/x']);
    });
  });

  describe('uploads that nobody completed', () => {
    it('are listed with their age, within the prefix alone, and freed', async () => {
      const store = s3Store(options({ prefix: 'parts' }));
      const begin = async (Key: string) => {
        const { endpoint, region, credentials } = options() as Required<S3Options>;
        const client = new S3Client({ region, forcePathStyle: true, endpoint, credentials });
        await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
      };
      await begin('parts/jobs/1/model');
      await begin('other/jobs/1/model');
      const [only, ...more] = await Array.fromAsync(store.unfinished());
      expect([only?.key, more]).toEqual(['jobs/1/model', []]);
      expect(Math.abs((only?.begun.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
      await only?.abort();
      await only?.abort(); // once more does no harm
      expect(await Array.fromAsync(store.unfinished())).toEqual([]);
      expect(await openUploads()).toContain('other/jobs/1/model');
    });
  });

  describe('presigned URLs', () => {
    it('let anyone GET one object under a file name, and no other', async () => {
      const store = s3Store(options());
      await store.put('signed/model weights.bin', Buffer.from('weights'));
      await store.put('signed/other', Buffer.from('other'));
      const presign = { expiresIn: 60, filename: 'Gewichte (neu) ü.bin' };
      const url = await store.presignGet('signed/model weights.bin', presign);
      const answer = await fetch(url ?? '');
      expect(await answer.text()).toBe('weights');
      expect(answer.headers.get('content-disposition')).toBe(
        "attachment; filename*=UTF-8''Gewichte%20%28neu%29%20%C3%BC.bin",
      );
      const other = url?.replace('model%20weights.bin', 'other') ?? '';
      expect((await fetch(other)).status).toBe(403);
    });
  });

  it('a presigned URL made without the SDK gives one object under a file name, and no other', async () => {
    const { endpoint, accessKey, secretKey } = rgw;
    await s3Store(options()).put('signed/own (ü)/model weights.bin', Buffer.from('own weights'));
    const [stored] = await keysOf(s3Store(options()), 'signed/own');
    const sign = presigner({
      endpoint,
      bucket: options().bucket,
      region: 'us-east-1',
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
    });
    const prefix = options().prefix ?? '';
    const url = await sign(`${prefix === '' ? '' : `${prefix}/`}${stored!}`, {
      expiresIn: 60,
      filename: 'Gewichte (neu) ü.bin',
    });
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([200, 'own weights']);
    expect(answer.headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''Gewichte%20%28neu%29%20%C3%BC.bin",
    );
    expect((await fetch(url.replace('model%20weights.bin', 'other'))).status).toBe(403);
    expect((await fetch(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'))).status).toBe(403);
  });

  describe('what can be wrong with the server', () => {
    it('wrong credentials are denied, for every operation', async () => {
      const { accessKey } = rgw;
      const credentials = { accessKeyId: accessKey, secretAccessKey: 'wrong' };
      const store = s3Store(options({ credentials }));
      await expect(store.put('k', Buffer.from('x'))).rejects.toEqual(storeError('denied', 'k'));
      await expect(store.get('k')).rejects.toEqual(storeError('denied', 'k'));
      await expect(store.head('k')).rejects.toEqual(storeError('denied', 'k'));
      await expect(store.delete('k')).rejects.toEqual(storeError('denied', 'k'));
      await expect(keysOf(store)).rejects.toEqual(storeError('denied'));
      const large = { stream: generatedStream(multipartSize).stream, size: multipartSize };
      await expect(store.put('k', large)).rejects.toEqual(storeError('denied', 'k'));
    });

    it('a missing bucket is named', async () => {
      const store = s3Store(options({ bucket: 'no-such-bucket' }));
      const putting = store.put('k', Buffer.from('x'));
      await expect(putting).rejects.toEqual(storeError('not_found', 'k'));
      await expect(putting).rejects.toThrow(/s3:\/\/no-such-bucket.*no such bucket; create it/);
    });

    it('a closed port is unreachable within seconds, and the endpoint is named', async () => {
      const listener = createServer().listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as AddressInfo;
      listener.close();
      await once(listener, 'close');
      const store = s3Store(options({ endpoint: `http://127.0.0.1:${port}` }));
      const began = performance.now();
      await expect(store.head('k')).rejects.toEqual(storeError('unreachable', 'k'));
      expect(performance.now() - began).toBeLessThan(5_000);
      await expect(store.get('k')).rejects.toThrow(`http://127.0.0.1:${port}`);
      const large = { stream: generatedStream(multipartSize).stream, size: multipartSize };
      await expect(store.put('k', large)).rejects.toEqual(storeError('unreachable', 'k'));
    });
  });

  describe('a clock that is wrong by hours', () => {
    afterEach(() => vi.useRealTimers());

    it.each([5, -5])('%s h: requests and presigned URLs use the server’s time', async (hours) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      const store = s3Store(options());
      await store.put(`clock/${hours}`, Buffer.from('on time'));
      expect(await textAt(store, `clock/${hours}`)).toBe('on time');
      const url = await store.presignGet(`clock/${hours}`, { expiresIn: 60 });
      expect(await (await fetch(url ?? '')).text()).toBe('on time');
    });
  });

  describe('transfers that go wrong', () => {
    const key = (name: string) => `faults/${name}`;

    /** Runs with a store behind a proxy; the fault is applied to the first `times` matches. */
    async function withFault(
      times: number,
      matches: (method: string, url: URL) => boolean,
      fault: Fault,
      test: (store: ReturnType<typeof s3Store>) => Promise<void>,
    ): Promise<void> {
      await using proxy = await startFaultProxy(rgw.endpoint);
      let applied = 0;
      proxy.fault = (exchange) => {
        const { method = '', url = '' } = exchange.request;
        if (applied === times || !matches(method, new URL(url, 'http://x'))) return false;
        applied++;
        return fault(exchange);
      };
      await test(s3Store(options({ endpoint: proxy.endpoint })));
      expect(applied).toBe(times);
    }

    const isPart = (method: string, url: URL) => method === 'PUT' && url.searchParams.has('partNumber');
    const isCompletion = (method: string, url: URL) => method === 'POST' && url.searchParams.has('uploadId');
    const isPut = (method: string, url: URL) => method === 'PUT' && url.search === '?x-id=PutObject';

    async function answerWith(exchange: Parameters<Fault>[0], status: number, body: string) {
      exchange.request.resume();
      await once(exchange.request, 'end');
      exchange.response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
      return true;
    }
    const internalError =
      '<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>try again</Message></Error>';

    /** Obeyed by the server, but the client never hears of it. */
    const loseAnswer: Fault = async ({ request, forward }) => {
      const answer = await forward();
      answer.resume();
      await once(answer, 'end');
      request.socket.destroy();
      return true;
    };

    const putLarge = (store: ReturnType<typeof s3Store>, name: string) => {
      const { stream, sha256 } = generatedStream(multipartSize);
      return store
        .put(key(name), { stream, size: multipartSize })
        .then((result) => expect(result).toEqual({ size: multipartSize, sha256: sha256() }));
    };

    it('a part that fails twice is sent again', () =>
      withFault(
        2,
        isPart,
        (exchange) => answerWith(exchange, 500, internalError),
        async (store) => {
          await putLarge(store, 'part');
          expect(await store.head(key('part'))).toEqual({ size: multipartSize });
        },
      ));

    it('a part that always fails ends the put, and the upload is aborted', () =>
      withFault(
        4,
        (method, url) => isPart(method, url) && url.searchParams.get('partNumber') === '2',
        (exchange) => answerWith(exchange, 503, internalError),
        async (store) => {
          await expect(putLarge(store, 'dead')).rejects.toEqual(storeError('unreachable', key('dead')));
          expect(await store.head(key('dead'))).toBeUndefined();
          expect(await openUploads()).not.toContain(key('dead'));
        },
      ));

    it('a completion that says 200 with an error inside is an error', () =>
      withFault(
        4,
        isCompletion,
        (exchange) => answerWith(exchange, 200, internalError),
        async (store) => {
          await expect(putLarge(store, 'hollow')).rejects.toEqual(storeError('unreachable', key('hollow')));
          expect(await store.head(key('hollow'))).toBeUndefined();
          expect(await openUploads()).not.toContain(key('hollow'));
        },
      ));

    it('a completion whose answer was lost counts, since the object is there', () =>
      withFault(1, isCompletion, loseAnswer, (store) => putLarge(store, 'lost')));

    it('so does a conditional put', () =>
      withFault(1, isPut, loseAnswer, async (store) => {
        await store.put(key('once'), Buffer.from('mine'), { ifNoneMatch: '*' });
        expect(await textAt(store, key('once'))).toBe('mine');
      }));

    it('an object that the server stored short is an error, and is removed', () =>
      withFault(
        1,
        (method) => method === 'HEAD',
        async ({ forward, response }) => {
          const { statusCode = 0, headers } = await forward();
          const short = String(multipartSize - 5 * mebibyte);
          response.writeHead(statusCode, { ...headers, 'content-length': short }).end();
          return true;
        },
        async (store) => {
          await expect(putLarge(store, 'short')).rejects.toEqual(storeError('corrupt', key('short')));
          expect(await store.head(key('short'))).toBeUndefined();
        },
      ));

    it('a download that breaks off ends in an error, never in a short object', () =>
      withFault(
        1,
        (method) => method === 'GET',
        async ({ forward, response }) => {
          const answer = await forward();
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          const [chunk] = (await once(answer, 'data')) as [Buffer];
          // Only once the beginning is on its way: the client must not see it as a failed request.
          response.write(chunk, () => response.destroy());
          answer.destroy();
          return true;
        },
        async (store) => {
          await putLarge(s3Store(options()), 'cut');
          await expect(bytesOf(await store.get(key('cut')))).rejects.toEqual(
            storeError('unreachable', key('cut')),
          );
        },
      ));
  });
});
