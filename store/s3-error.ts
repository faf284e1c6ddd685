// Which StoreError a failed S3 request is. Servers differ in names, so the name is asked first
// where it says more, then the HTTP status, then the network's own code.
import { StoreError, StoreProblem, type StoreErrorCode, type StoreErrorDetails } from './error.ts';

type Verdict = readonly [StoreErrorCode, string];

const credentials = 'check the access key, its secret and its permissions on the bucket';
const region = 'the bucket lies in another region or endpoint; set S3_REGION or S3_ENDPOINT';

const byName: Readonly<Record<string, Verdict>> = {
  NoSuchBucket: ['not_found', 'there is no such bucket; create it or correct the store URL'],
  NoSuchUpload: ['unreachable', 'the server lost the multipart upload; put the object again'],
  RequestTimeTooSkewed: ['denied', 'the clock differs too much from the server’s; set the clock'],
  QuotaExceeded: ['full', 'the quota of the bucket or user is used up; raise it or delete objects'],
  EntityTooLarge: ['full', 'the object is larger than the server allows'],
  BadDigest: ['corrupt', 'the server received other bytes than were sent; put the object again'],
  InvalidRange: ['invalid', 'the object has no bytes in this range'],
  PermanentRedirect: ['invalid', region],
  AuthorizationHeaderMalformed: ['invalid', region],
  CredentialsProviderError: ['denied', 'no credentials found; set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY'],
  TimeoutError: ['unreachable', 'the server did not answer in time'],
};

const byStatus: Readonly<Record<number, Verdict>> = {
  301: ['invalid', region],
  401: ['denied', `the server refuses the credentials; ${credentials}`],
  403: ['denied', `the server refuses the request; ${credentials}`],
  404: ['not_found', 'there is no such object'],
  409: ['conflict', 'another request changes the same object'],
  412: ['conflict', 'an object with this key exists already'],
  416: ['invalid', 'the object has no bytes in this range'],
  429: ['unreachable', 'the server asks to slow down; try again later'],
  507: ['full', 'the server has no space left; free some or enlarge it'],
};

interface ServiceFault {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The HTTP status of the server's answer, if there was one. */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<ServiceFault> | undefined)?.$metadata?.httpStatusCode;
}

function verdict(fault: ServiceFault, endpoint: string): Verdict {
  const named = byName[fault.name];
  if (named !== undefined) return named;
  const status = statusOf(fault);
  if (status === undefined)
    return ['unreachable', `no connection to ${endpoint}; check S3_ENDPOINT and the network`];
  const known = byStatus[status];
  if (known !== undefined) return known;
  // 2xx: an error inside of a successful answer, as a failed multipart completion may send it.
  if (status >= 500 || status < 300) return ['unreachable', 'the server failed; try again later'];
  return ['invalid', 'the server does not accept the request'];
}

export function s3Error(
  where: Omit<StoreErrorDetails, 'problem' | 'cause'>,
  endpoint: string,
  cause: unknown,
): StoreError {
  if (cause instanceof StoreError) return cause;
  if (cause instanceof StoreProblem)
    return new StoreError(cause.code, { ...where, problem: cause.message, cause });
  const fault: ServiceFault = cause instanceof Error ? cause : new Error(String(cause));
  const [code, advice] = verdict(fault, endpoint);
  const status = statusOf(fault);
  const network = typeof fault.code === 'string' ? fault.code : fault.name;
  const detail = status === undefined ? network : `${fault.name}, HTTP ${status}`;
  const message = fault.message === '' || fault.message === fault.name ? '' : `: ${fault.message}`;
  return new StoreError(code, { ...where, problem: `${advice} (${detail}${message})`, cause });
}
