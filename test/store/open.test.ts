// Which URLs and environments lead to a store, and what the others are told.
import { describe, expect, it } from 'vitest';

import { openStore, type StoreEnv } from '../../store/open.ts';

const s3Env: StoreEnv = {
  S3_ENDPOINT: 'http://127.0.0.1:9',
  S3_ACCESS_KEY_ID: 'id-of-s3',
  S3_SECRET_ACCESS_KEY: 'secret',
};

describe('openStore', () => {
  it.each([
    ['file:///var/lib/millrace', 'file:///var/lib/millrace'],
    ['file:///a%20b/', 'file:///a%20b'],
    ['s3://bucket', 's3://bucket/'],
    ['s3://bucket/', 's3://bucket/'],
    ['s3://bucket/models/qwen/', 's3://bucket/models/qwen'],
  ])('opens %s', (url, described) => {
    expect(openStore(url, s3Env).describe()).toBe(described);
  });

  const bad: [string, StoreEnv, RegExp][] = [
    ['', {}, /not a store URL; use file:/],
    ['/var/lib/millrace', {}, /not a store URL/],
    ['https://example.org/bucket', {}, /not a store URL/],
    ['file://relative/folder', {}, /"relative" reads as a host/],
    ['s3:///no-bucket', {}, /bucket is missing/],
    ['s3://bucket:80/prefix', {}, /a bucket has no port/],
    ['s3://bucket/a/../../b//c', {}, /prefix is not usable: .*empty segment/],
    ['s3://bucket/%zz', {}, /broken percent escape/],
    ['s3://bucket?region=x', {}, /query/],
    ['s3://bucket', { ...s3Env, S3_ENDPOINT: 'localhost:9000' }, /S3_ENDPOINT is "localhost:9000"/],
    ['s3://bucket', { S3_ACCESS_KEY_ID: 'a' }, /set both S3_ACCESS_KEY_ID and S3_SECRET/],
    ['s3://bucket', { AWS_SECRET_ACCESS_KEY: 'a' }, /set both AWS_ACCESS_KEY_ID and AWS_SECRET/],
    ['s3://bucket', { ...s3Env, S3_FORCE_PATH_STYLE: 'maybe' }, /"maybe"; use true or false/],
  ];
  it.each(bad)('refuses %j with %j', (url, env, message) => {
    expect(() => openStore(url, env)).toThrow(message);
    expect(() => openStore(url, env)).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  });

  it('refuses credentials in the URL without repeating them', () => {
    const open = () => openStore('s3://id:hunter2@bucket/x', {});
    expect(open).toThrow(/credentials do not belong in the URL/);
    expect(open).not.toThrow(/hunter2/);
  });

  const address = async (env: StoreEnv) =>
    new URL((await openStore('s3://bucket/p', env).presignGet('k', { expiresIn: 60 })) ?? '');

  it('takes S3_ variables before AWS_ ones, and puts the bucket into the path of an own server', async () => {
    const url = await address({ ...s3Env, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' });
    expect(url.host + url.pathname).toBe('127.0.0.1:9/bucket/p/k');
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^id-of-s3\/.*\/us-east-1\/s3\//);
  });

  it('falls back to AWS_ variables and AWS S3', async () => {
    const url = await address({
      AWS_ACCESS_KEY_ID: 'id-of-aws',
      AWS_SECRET_ACCESS_KEY: 'y',
      AWS_SESSION_TOKEN: 'token',
      AWS_REGION: 'eu-central-1',
    });
    expect(url.host + url.pathname).toBe('bucket.s3.eu-central-1.amazonaws.com/p/k');
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^id-of-aws\/.*\/eu-central-1\/s3\//);
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe('token');
  });

  it('obeys S3_FORCE_PATH_STYLE', async () => {
    const url = await address({
      ...s3Env,
      S3_ENDPOINT: 'https://s3.example.org',
      S3_FORCE_PATH_STYLE: 'false',
    });
    expect(url.host + url.pathname).toBe('bucket.s3.example.org/p/k');
  });
});
