// A real S3 server for tests: Ceph RADOS Gateway in memory, started by infra/rgw. Starting takes
// about 3 s, so the files of one test run share one server; it ends with the run, even a killed one.
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const scripts = resolve(import.meta.dirname, '../../infra/rgw');
const run = promisify(execFile);
const installTimeoutMs = 400_000;

export interface Rgw {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface OwnRgw extends Rgw {
  stop(): Promise<void>;
}

/** Why there can be no server on this machine, or false: for `describe.skipIf(noRgw)`. */
export const noRgw: string | false = whyNoRgw();

/** A server of the caller's own; it also ends when the process `owner` does. */
export async function startRgw(owner: number = process.pid): Promise<OwnRgw> {
  const dir = join(tmpdir(), `millrace-rgw-${randomUUID()}`);
  const rgw = await start(dir, owner);
  return {
    ...rgw,
    stop: async () => {
      await run(join(scripts, 'stop.sh'), [dir]);
    },
  };
}

/** The one server of this test run, started by whoever asks first. Vitest's main process owns it. */
export function sharedRgw(): Promise<Rgw> {
  return start(join(tmpdir(), `millrace-rgw-${process.ppid}`), process.ppid);
}

/** A new bucket and the store URL and environment that lead to it. */
export async function newBucket(
  rgw: Rgw,
): Promise<{ bucket: string; url: string; env: Record<string, string> }> {
  const bucket = `test-${randomUUID().slice(0, 13)}`;
  const client = new S3Client({
    endpoint: rgw.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: rgw.accessKey, secretAccessKey: rgw.secretKey },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const env = {
    S3_ENDPOINT: rgw.endpoint,
    S3_REGION: 'us-east-1',
    S3_ACCESS_KEY_ID: rgw.accessKey,
    S3_SECRET_ACCESS_KEY: rgw.secretKey,
  };
  return { bucket, url: `s3://${bucket}`, env };
}

async function start(dir: string, owner: number): Promise<Rgw> {
  const { stdout } = await run(join(scripts, 'start.sh'), [dir, String(owner)], {
    timeout: installTimeoutMs,
  });
  const value = (name: string): string => {
    const found = new RegExp(`^${name}=(.+)$`, 'm').exec(stdout)?.[1];
    if (found === undefined) throw new Error(`start.sh printed no ${name}: ${stdout}`);
    return found;
  };
  return {
    endpoint: value('S3_ENDPOINT'),
    accessKey: value('S3_ACCESS_KEY_ID'),
    secretKey: value('S3_SECRET_ACCESS_KEY'),
  };
}

function whyNoRgw(): string | false {
  const has = (command: string): boolean => {
    try {
      execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  if (has('radosgw') && has('ceph-mon') && has('ceph-osd')) return false;
  if (process.getuid?.() === 0 && has('apt-get')) return false; // start.sh installs it
  return 'Ceph RADOS Gateway is not installed: apt-get install radosgw ceph-mon ceph-osd (as root)';
}
