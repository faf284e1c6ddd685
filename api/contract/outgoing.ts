// Addresses that a spec tells a runner to call, and the secrets that it names for them. What can be seen in the text is
// refused here; what a name resolves to, the runner checks when it calls.
import { z } from 'zod';
import { addressKind } from './address.ts';
import type { AddressKind } from './address.ts';
import { duration, durationMs } from './names.ts';

/** Set on the API and on runners where graders may lie on loopback or in a private network. */
export const allowPrivateVariable = 'MILLRACE_ALLOW_PRIVATE_ADDRESSES';

export const allowsPrivateAddresses = (env: Readonly<Record<string, string | undefined>>): boolean =>
  /^(?:1|true|yes)$/i.test(env[allowPrivateVariable] ?? '');

/** What the host of a URL is without a look-up; undefined for a name. */
export function hostKind({ hostname }: Pick<URL, 'hostname'>): AddressKind | undefined {
  if (/^(?:.+\.)?localhost\.?$/i.test(hostname)) return 'private';
  return addressKind(hostname.replace(/^\[|\]$/g, ''));
}

/** What is wrong with calling a host of this kind; undefined where nothing is. */
export function addressFault(kind: AddressKind | undefined, allowPrivate: boolean): string | undefined {
  if (kind === 'forbidden')
    return 'is link-local, multicast, unspecified or reserved: nothing is called there';
  if (kind === 'private' && !allowPrivate)
    return `is loopback or in a private network: set ${allowPrivateVariable}=1 on the service and its runners to allow that`;
  return undefined;
}

function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an http(s) URL';
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return 'must be an http(s) URL';
  if (url.username !== '' || url.password !== '')
    return 'holds credentials: keep them on the runner and name them by "secret"';
  // Whether private ones are allowed is a setting of the service; the rest never is.
  const fault = addressFault(hostKind(url), true);
  return fault === undefined ? undefined : `${url.hostname} ${fault}`;
}

export const outgoingUrl = z
  .string()
  .max(2_000)
  .superRefine((text, context) => {
    const fault = urlFault(text);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

/** The value stays on the runner: MILLRACE_SECRET_NAME, or the file NAME below MILLRACE_SECRETS_DIR. */
export const secretReference = z
  .string()
  .regex(/^secret:[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, 'looks like "secret:NAME": letters, digits, "_" and "-"');

/** Fields of whatever is called over HTTP. */
export const endpoint = (timeout: string) => ({
  url: outgoingUrl,
  secret: secretReference.optional(),
  timeout: duration
    .refine((text) => durationMs(text) <= 600_000, 'at most 10m')
    .default(timeout)
    .describe('of one request'),
  retries: z
    .number()
    .int()
    .min(0)
    .max(10)
    .default(3)
    .describe('after connection errors, time-outs, 429 and 5xx'),
});
