// The table of addresses, each range by an address inside and, where there is one, a public neighbour; and URLs as specs hold them.
import { describe, expect, test } from 'vitest';
import { addressKind } from '../../../api/contract/address.ts';
import { allowsPrivateAddresses, outgoingUrl } from '../../../api/contract/outgoing.ts';

describe.each([
  ['public', ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.0', '100.63.255.255', '223.255.255.255']],
  ['public', ['2606:4700::1111', '2a00:1450:4001:81b::200e', '64:ff9b::808:808', '::ffff:8.8.8.8']],
  ['public', ['2002:808:808::1', '11.0.0.0', '192.169.0.0', '169.253.255.255', '198.20.0.0']],
  ['private', ['127.0.0.1', '127.255.255.255', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1']],
  ['private', ['100.64.0.1', '198.19.255.255', '192.0.2.1', '198.51.100.7', '203.0.113.9']],
  ['private', ['::1', 'fc00::1', 'fdff::1', 'fec0::1', '2001:db8::1', '::ffff:127.0.0.1', '::ffff:7f00:1']],
  ['private', ['::10.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::1', '2002:a00:1::', '2001:0:1::1']],
  ['forbidden', ['169.254.169.254', '0.0.0.0', '0.1.2.3', '224.0.0.1', '255.255.255.255', '240.0.0.1']],
  ['forbidden', ['100.100.100.200', '168.63.129.16', '192.0.0.192']],
  [
    'forbidden',
    ['::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'ff02::1', 'fd00:ec2::254', '100::1', '4000::1'],
  ],
  ['forbidden', ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::']],
] as const)('%s', (kind, addresses) => {
  test.each(addresses)('%s', (address) => expect(addressKind(address)).toBe(kind));
});

test.each([
  'example.com',
  '',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '12345::',
  ':::',
  '::1.2.3',
])('no address: %j', (text) => expect(addressKind(text)).toBeUndefined());

test.each([
  ['http://169.254.169.254/latest/meta-data', /169\.254\.169\.254 is link-local/],
  ['http://0xa9.0xfe.0xa9.0xfe/', /link-local/],
  ['http://2852039166/', /link-local/],
  ['http://[fe80::1]/', /link-local/],
  ['http://[::ffff:169.254.169.254]/', /link-local/],
  ['http://0.0.0.0:80/', /unspecified/],
  ['ftp://example.com/', /http\(s\)/],
  ['file:///etc/passwd', /http\(s\)/],
  ['example.com', /http\(s\)/],
  ['https://user:pass@example.com/', /credentials/],
])('refused in a spec: %s', (url, message) => {
  expect(() => outgoingUrl.parse(url)).toThrow(message);
});

test.each([
  'https://judge.example.com/v1',
  'http://127.0.0.1:8000/v1',
  'http://localhost:8000',
  'https://[2606:4700::1]/',
])('taken in a spec: %s', (url) => expect(outgoingUrl.parse(url)).toBe(url));

test('private addresses are allowed by a clear yes only', () => {
  const allowed = (value: string): boolean =>
    allowsPrivateAddresses({ MILLRACE_ALLOW_PRIVATE_ADDRESSES: value });
  expect(['1', 'true', 'yes'].map(allowed)).toEqual([true, true, true]);
  expect(['0', 'false', '', 'no'].map(allowed)).toEqual([false, false, false, false]);
  expect(allowsPrivateAddresses({})).toBe(false);
});
