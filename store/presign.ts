// A URL by which anyone may GET an object for a while: AWS Signature Version 4 in the query, "Authenticating requests:
// using query parameters" of the S3 reference, with node:crypto only. For places where the AWS SDK does not run.
import { createHash, createHmac } from 'node:crypto';
import type { PresignOptions } from './store.ts';

export interface Signer {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The address has the bucket in its path, as every S3 server takes it. */
export function presigner(signer: Signer, now: () => Date = () => new Date()) {
  return (key: string, { expiresIn, filename }: PresignOptions): Promise<string> => {
    const url = new URL(signer.endpoint);
    const path = [...url.pathname.split('/'), signer.bucket, ...key.split('/')].filter((part) => part !== '');
    url.pathname = '';
    const time = now()
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, '');
    const scope = `${time.slice(0, 8)}/${signer.region}/s3/aws4_request`;
    const query = canonicalQuery({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
      'X-Amz-Credential': `${signer.accessKeyId}/${scope}`,
      'X-Amz-Date': time,
      'X-Amz-Expires': String(expiresIn),
      'X-Amz-SignedHeaders': 'host',
      ...(filename !== undefined && {
        'response-content-disposition': `attachment; filename*=UTF-8''${escaped(filename)}`,
      }),
      'x-id': 'GetObject',
    });
    const canonicalPath = `/${path.map(escaped).join('/')}`;
    const request = `GET\n${canonicalPath}\n${query}\nhost:${url.host}\n\nhost\nUNSIGNED-PAYLOAD`;
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`;
    const signature = hmac(signingKey(signer, scope), text).toString('hex');
    return Promise.resolve(`${url.origin}${canonicalPath}?${query}&X-Amz-Signature=${signature}`);
  };
}

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Date, region and service, one after the other, and the constant at the end of a scope. */
const signingKey = ({ secretAccessKey }: Signer, scope: string): Buffer =>
  scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));

const canonicalQuery = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');

/** RFC 3986: everything but unreserved characters. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
