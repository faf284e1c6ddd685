// Every spelling under which a runner would read a place of the store is known for that place.
import { expect, test } from 'vitest';
import { keyOfAddress } from '../../api/jobs/key-of-address.ts';

test.each([
  ['s3://bucket/', 's3://bucket/jobs/a', 'jobs/a/'],
  ['s3://bucket/', 's3://bucket//jobs/a//', 'jobs/a/'],
  ['s3://bucket/', 's3://bucket', ''],
  ['s3://bucket/pre/fix', 's3://bucket//pre/fix/jobs/a', 'jobs/a/'],
  ['s3://bucket/pre/fix', 's3://bucket/pre/fixed/a', undefined],
  ['s3://bucket/pre/fix', 's3://bucket/pre', undefined],
  ['s3://bucket/', 's3://other/jobs/a', undefined],
  ['s3://bucket/', '/bucket/jobs/a', undefined],
  ['file:///data/store', 'file:///data/store/models/a', 'models/a/'],
  ['file:///data/store', 'file:///data//store/%6dodels/./a/', 'models/a/'],
  ['file:///data/store', '/data/x/../store/models/a', 'models/a/'],
  ['file:///data/store', '/data/store/../models/a', undefined],
  ['file:///data/store', 'data/store/models/a', undefined],
  ['file:///data/store', 'file://host/data/store/a', undefined],
])('in %s, %s is %s', (store, uri, key) => {
  expect(keyOfAddress(store, uri)).toBe(key);
});
