// The guard of outgoing requests, with a real server: what is refused, and that what was checked is what is connected to.
import { execFileSync, spawnSync } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Unreachable } from '../../api/outgoing.ts';
import { Outgoing } from '../../api/outgoing.ts';
import { tempDir } from '../support/temp-dir.ts';
import { json, useHttpService } from '../rewards/http-service.ts';

const service = useHttpService();
const request = { headers: { 'x-mark': 'a' }, body: '{"a":1}', timeoutMs: 5_000, maxBytes: 1_000 };
const open = new Outgoing({ allowPrivate: true });
const closed = new Outgoing({ allowPrivate: false });

/** A resolver that gives its answers in turn, and counts. */
function scripted(...answers: LookupAddress[][]) {
  const asked: string[] = [];
  return {
    asked,
    resolve: (name: string, _: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
      asked.push(name);
      callback(null, answers[Math.min(asked.length, answers.length) - 1]!);
    },
  };
}
const v4 = (address: string): LookupAddress => ({ address, family: 4 });

test('posts, and gives back status, headers and body', async () => {
  service.answer = json({ b: 2 }, 201, { 'x-back': 'c' });
  const answer = await open.post(`${service.url}/path?q=1`, request);
  expect(answer).toMatchObject({ status: 201, body: '{"b":2}', headers: { 'x-back': 'c' } });
  expect(service.received).toMatchObject([
    { path: '/path?q=1', body: '{"a":1}', headers: { 'x-mark': 'a', 'content-length': '7' } },
  ]);
});

test('a private address is refused unless allowed, with no connection made', async () => {
  service.answer = json({});
  await expect(closed.post(service.url, request)).rejects.toThrow(
    /127\.0\.0\.1 is loopback or in a private network: set MILLRACE_ALLOW_PRIVATE_ADDRESSES/,
  );
  expect(service.received).toEqual([]);
});

test('a name that the system resolves to loopback is refused', async () => {
  const named = `http://localhost:${service.port}/`;
  await expect(closed.post(named, request)).rejects.toThrow(/localhost is loopback/);
  // By resolution alone: a name that the text does not give away.
  const { resolve } = scripted([v4('127.0.0.1')]);
  const guarded = new Outgoing({ allowPrivate: false, resolve });
  const failed = guarded.post(`http://grader.test:${service.port}/`, request);
  await expect(failed).rejects.toThrow(/resolves to 127\.0\.0\.1, which is loopback/);
  await expect(failed).rejects.toMatchObject({ name: 'Unreachable', again: false });
  expect(service.received).toEqual([]);
});

test.each([
  ['link-local', [v4('169.254.169.254')]],
  ['one of several', [v4('8.8.8.8'), v4('169.254.169.254')]],
  ['mapped', [{ address: '::ffff:169.254.169.254', family: 6 }]],
  ['multicast', [v4('224.0.0.1')]],
  ['no address at all', [v4('not an address')]],
])(
  'a name that resolves to what is forbidden is refused even where private is allowed: %s',
  async (_, found) => {
    const { resolve } = scripted(found);
    const guarded = new Outgoing({ allowPrivate: true, resolve });
    await expect(guarded.post('http://grader.test/', request)).rejects.toThrow(
      /resolves to .*nothing is called/,
    );
  },
);

test('the connection goes to the address that was checked: one look-up, and a later answer changes nothing', async () => {
  service.answer = json({});
  const { resolve, asked } = scripted([v4('127.0.0.1')], [v4('169.254.169.254')]);
  const guarded = new Outgoing({ allowPrivate: true, resolve });
  const url = `http://grader.test:${service.port}/`;
  expect((await guarded.post(url, request)).status).toBe(200);
  expect(asked).toEqual(['grader.test']);
  expect(service.received[0]?.headers.host).toBe(`grader.test:${service.port}`);
});

test('a redirect is an answer like any other: nobody goes where it points', async () => {
  service.answer = (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
  expect((await open.post(service.url, request)).status).toBe(302);
  expect(service.received).toHaveLength(1);
});

test('an answer that never comes, and one that drips, cost the time limit', async () => {
  service.answer = () => undefined;
  await expect(open.post(service.url, { ...request, timeoutMs: 60 })).rejects.toThrow(
    /no answer within 60 ms/,
  );
  service.answer = (_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'), 5);
    response.on('close', () => clearInterval(drip));
  };
  const failed = open.post(service.url, { ...request, timeoutMs: 60, maxBytes: 1e9 });
  await expect(failed).rejects.toThrow(/no answer within 60 ms/);
  await expect(failed).rejects.toMatchObject({ again: true });
});

test('an answer without end is read up to the limit and no further', async () => {
  let sent = 0;
  service.answer = (_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) sent += 65_536;
    };
    response.on('drain', more);
    more();
  };
  const failed = open.post(service.url, { ...request, maxBytes: 100_000 });
  await expect(failed).rejects.toThrow(/longer than 100000 bytes/);
  await expect(failed).rejects.toMatchObject({ again: false });
  expect(sent).toBeLessThan(100e6);
});

test('a broken connection may be tried again, and the message keeps the query to itself', async () => {
  service.answer = (_, response) => void response.destroy();
  const failed = open.post(`${service.url}/a?token=hidden`, request);
  await expect(failed).rejects.toMatchObject({ again: true });
  const message = await failed.catch((error: Unreachable) => error.message);
  expect(message).toContain(`${service.url}/a: `);
  expect(message).not.toContain('hidden');
});

test('nobody there', async () => {
  await expect(open.post('http://127.0.0.1:1/', request)).rejects.toMatchObject({ again: true });
});

const canMakeCertificates = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!canMakeCertificates)(
  'over TLS a certificate that nobody vouches for is refused (needs openssl)',
  async () => {
    await using dir = await tempDir('tls');
    const [key, cert] = [join(dir.path, 'key.pem'), join(dir.path, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-days', '2'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', cert],
      {
        stdio: 'ignore',
      },
    );
    let asked = 0;
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      asked++;
      response.end('{}');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    try {
      const { port } = server.address() as AddressInfo;
      await expect(open.post(`https://localhost:${port}/`, request)).rejects.toThrow(
        /self-signed certificate/,
      );
      await expect(closed.post(`https://localhost:${port}/`, request)).rejects.toThrow(/loopback/);
      expect(asked).toBe(0);
    } finally {
      server.close();
    }
  },
);
