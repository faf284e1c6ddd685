// Addresses as limits count them: IPv4 whole, also where it comes dressed as IPv6; of IPv6 the first 64 bits, since whoever
// has one address of such a network has all.
import { isIPv4, isIPv6 } from 'node:net';

export function networkOf(address: string): string {
  const dressed = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (dressed !== undefined && isIPv4(dressed)) return dressed;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
