// Identifiers: a prefix that names the kind, 48 bits of time, 80 random bits. Their text order is
// the order of creation (to the millisecond), so lists are paged by id alone.
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix =
  'proj' | 'key' | 'job' | 'ds' | 'ckpt' | 'run' | 'srv' | 'err' | 'aud' | 'hook' | 'dlv' | 'file';

/** A new id such as `job_01k7…`: 26 digits of Crockford's base 32 after the prefix. */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${timeDigits(now)}${Array.from(random, (byte) => digits.charAt(byte & 31)).join('')}`;
}

function timeDigits(milliseconds: number): string {
  let text = '';
  for (let rest = milliseconds; text.length < 10; rest = Math.floor(rest / 32))
    text = digits.charAt(rest % 32) + text;
  return text;
}
