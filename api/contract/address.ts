// What a network address leads to: the one table that every outgoing request of a spec's addresses passes. Pure: names are
// not looked up here, api/outgoing.ts does that and asks this table of what it finds.
// Sources: IANA's special-purpose address registries (RFC 6890 and its updates), and where clouds answer for machine identities.

/**
 * `forbidden`: link-local, multicast, unspecified, reserved and the metadata services of clouds; no setting allows them.
 * `private`: loopback and the networks behind a router; MILLRACE_ALLOW_PRIVATE_ADDRESSES allows them.
 */
export type AddressKind = 'public' | 'private' | 'forbidden';

type Range = readonly [base: string, bits: number, kind: AddressKind];

/** The first that fits counts. */
const ranges4: readonly Range[] = [
  ['100.100.100.200', 32, 'forbidden'],
  ['168.63.129.16', 32, 'forbidden'],
  ['192.0.0.192', 32, 'forbidden'],
  ['0.0.0.0', 8, 'forbidden'],
  ['169.254.0.0', 16, 'forbidden'],
  ['224.0.0.0', 3, 'forbidden'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['127.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'private'],
  ['192.0.2.0', 24, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['198.51.100.0', 24, 'private'],
  ['203.0.113.0', 24, 'private'],
];

const ranges6: readonly Range[] = [
  ['fd00:ec2::254', 128, 'forbidden'],
  ['::1', 128, 'private'],
  ['64:ff9b:1::', 48, 'private'],
  ['2001::', 32, 'private'],
  ['2001:db8::', 32, 'private'],
  ['fc00::', 7, 'private'],
  ['fec0::', 10, 'private'],
];

/** Of what is left, the part that is given out; all else is reserved. */
const unicast6: Range = ['2000::', 3, 'public'];

/** Prefixes after which an IPv4 address is written: mapped, translated (RFC 6052), compatible, 6to4. */
const carriers: readonly (readonly [prefix: string, bits: number])[] = [
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['::', 96],
  ['2002::', 16],
];

/** Of an IPv4 address in four decimal numbers, or an IPv6 address; undefined where the text is neither, a name for example. */
export function addressKind(text: string): AddressKind | undefined {
  const four = parse4(text);
  if (four !== undefined) return kind4(four);
  const six = parse6(text);
  return six === undefined ? undefined : kind6(six);
}

const kind4 = (address: bigint): AddressKind =>
  ranges4.find(([base, bits]) => within(address, parse4(base)!, bits, 32))?.[2] ?? 'public';

function kind6(address: bigint): AddressKind {
  const isWithin = ([base, bits]: readonly [string, number, ...unknown[]]): boolean =>
    within(address, parse6(base)!, bits, 128);
  const listed = ranges6.find(isWithin);
  if (listed !== undefined) return listed[2];
  const carrier = carriers.find(isWithin);
  if (carrier !== undefined) return kind4((address >> BigInt(96 - carrier[1])) & 0xffff_ffffn);
  return isWithin(unicast6) ? 'public' : 'forbidden';
}

const within = (address: bigint, base: bigint, bits: number, width: number): boolean =>
  (address ^ base) >> BigInt(width - bits) === 0n;

function parse4(text: string): bigint | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 255)
    ? bytes.reduce((total, byte) => (total << 8n) | BigInt(byte), 0n)
    : undefined;
}

function parse6(text: string): bigint | undefined {
  const [head, tail, ...more] = text.replace(/%.*$/, '').split('::');
  if (head === undefined || more.length > 0 || !text.includes(':')) return undefined;
  const front = groups(head);
  const back = groups(tail ?? '');
  if (front === undefined || back === undefined) return undefined;
  const missing = 8 - front.length - back.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...front, ...Array<bigint>(missing).fill(0n), ...back].reduce(
    (total, group) => (total << 16n) | group,
    0n,
  );
}

/** Groups of 16 bits; an IPv4 address at the end is two of them. */
function groups(text: string): bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const four = parse4(parts.at(-1) ?? '');
  const plain = four === undefined ? parts : parts.slice(0, -1);
  if (!plain.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return undefined;
  const read = plain.map((part) => BigInt(`0x${part}`));
  return four === undefined ? read : [...read, four >> 16n, four & 0xffffn];
}
