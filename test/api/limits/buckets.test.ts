// Token buckets under a clock that the test holds, and addresses as they are counted.
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../../api/limits/address.ts';
import { createBuckets } from '../../../api/limits/buckets.ts';
import { createStreams } from '../../../api/limits/streams.ts';

const held = (perMinute: number, burst: number) => {
  const clock = { ms: 1_000_000 };
  return { clock, buckets: createBuckets({ perMinute, burst }, () => clock.ms) };
};

describe('a bucket', () => {
  test('gives its burst at once, then as fast as it is filled', () => {
    const { clock, buckets } = held(60, 3);
    expect([1, 2, 3, 4].map(() => buckets.take('a').taken)).toEqual([true, true, true, false]);
    clock.ms += 999;
    expect(buckets.take('a')).toEqual({ taken: false, left: 0, waitS: 1, fullInS: 3 });
    clock.ms += 1;
    expect(buckets.take('a')).toEqual({ taken: true, left: 0, waitS: 1, fullInS: 3 });
    clock.ms += 3_600_000;
    expect(buckets.take('a')).toEqual({ taken: true, left: 2, waitS: 0, fullInS: 1 });
  });

  test('over a long time gives no more than its rate', () => {
    const { clock, buckets } = held(600, 200);
    let given = 0;
    for (let i = 0; i < 60_000; i += 10) {
      if (buckets.take('a').taken) given += 1;
      clock.ms += 10;
    }
    expect(given).toBe(200 + 600 - 1);
  });

  test('is its own, is not filled by a clock set back, and waits as long as it says', () => {
    const { clock, buckets } = held(1, 1);
    expect(buckets.take('a').taken).toBe(true);
    expect(buckets.take('b').taken).toBe(true);
    clock.ms -= 3_600_000;
    const { taken, waitS } = buckets.look('a');
    expect([taken, waitS]).toEqual([false, 60]);
    clock.ms += 3_600_000 + waitS * 1_000;
    expect(buckets.take('a').taken).toBe(true);
  });

  test('of many names is forgotten when it is full, else the one used the longest ago', () => {
    const { clock, buckets } = held(60, 2);
    for (let i = 0; i < 10_000; i++) buckets.take(String(i));
    buckets.take('0');
    expect(buckets.look('0').taken).toBe(false);
    buckets.take('one more');
    expect(buckets.look('1').left).toBe(2); // forgotten, so full
    expect(buckets.look('0').taken).toBe(false);
    clock.ms += 1_000;
    buckets.take('another');
    expect(buckets.look('0').left).toBe(1);
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0db8:0001::', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['something else', 'something else'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('streams are counted by key, and given back once', () => {
  const streams = createStreams(2);
  const close = streams.open('a');
  streams.open('a');
  streams.open('b');
  expect(() => streams.open('a')).toThrow('your key has 2 event streams open');
  close();
  close();
  streams.open('a');
  expect(() => streams.open('a')).toThrow('2 event streams');
});
