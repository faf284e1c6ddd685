// What an answer says about a limit, in the field names of draft-ietf-httpapi-ratelimit-headers: the policy (q requests in
// w seconds) and where the key stands in it (r left, t seconds until it has them all again). Retry-After is RFC 9110's.
import type { BucketSize, Taken } from './buckets.ts';

export const rateHeaders = (name: string, size: BucketSize, at: Taken): Record<string, string> => ({
  'ratelimit-policy': `"${name}";q=${size.burst};w=${Math.ceil((size.burst * 60) / size.perMinute)}`,
  ratelimit: `"${name}";r=${at.left};t=${at.fullInS}`,
});

export const retryAfter = (seconds: number): Record<string, string> => ({
  'retry-after': String(Math.max(1, seconds)),
});
