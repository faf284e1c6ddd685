// The S3 server that tests use: it ends with its owner, so that a killed test run leaves nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it, vi } from 'vitest';

import { newBucket, noRgw, sharedRgw, startRgw } from '../support/rgw.ts';

async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}

describe.skipIf(noRgw)(`RADOS Gateway ${noRgw || 'for tests'}`, () => {
  it('ends when its owner is killed', async () => {
    const owner = spawn('sleep', ['600']);
    const rgw = await startRgw(owner.pid);
    expect(await answers(rgw.endpoint)).toBe(true);
    await newBucket(rgw);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await vi.waitFor(async () => expect(await answers(rgw.endpoint)).toBe(false), {
      timeout: 10_000,
      interval: 100,
    });
    await rgw.stop(); // once more does no harm
  });

  it('is one for all who share it', async () => {
    const [one, two] = await Promise.all([sharedRgw(), sharedRgw()]);
    expect(one).toEqual(two);
    expect(await answers(one.endpoint)).toBe(true);
  });
});
