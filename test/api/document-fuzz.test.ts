// Requests made from the OpenAPI document, near what it declares and far from it, against the service as it listens. A longer run,
// or one of another seed: `npm run fuzz -- --requests 20000 --seed 7`.
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fuzz } from '../fault/fuzz/run.ts';
import { useApi } from './support.ts';

const requests = Number(process.env['FUZZ_REQUESTS'] ?? 1_500);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);

const api = useApi({
  limits: {
    jsonBytes: 100_000,
    gradeBytes: 50_000,
    datasetLineBytes: 5_000,
    datasetArrayBytes: 20_000,
    datasetBytes: 50_000,
    datasetUnpackedBytes: 100_000,
  },
  // Runners stay alive for the whole run; one that serves is given up soon.
  timing: { leaseMs: 86_400_000, servingSilenceMs: 500 },
});

let server: Server;
let url: string;
beforeAll(async () => {
  server = createAdaptorServer({ fetch: api.app.fetch }) as Server;
  // On a busy machine a connection may wait for longer than the five seconds that Node keeps an idle one.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test(
  `${requests} requests of seed ${seed} find no fault`,
  { timeout: 120_000 + requests * 200 },
  async () => {
    const { statuses, reached, slowestMs, faults } = await fuzz(api, { url, requests, seed });
    console.log(
      JSON.stringify({ requests, seed, statuses, reached: reached.length, slowestMs: Math.round(slowestMs) }),
    );
    expect(faults.join('\n\n')).toBe('');
    // The requests must get past the door, and be refused behind it.
    expect(reached.length).toBeGreaterThan(requests < 1_000 ? 5 : 35);
    expect(statuses[200]).toBeGreaterThan(requests / 20);
    expect((statuses[422] ?? 0) + (statuses[400] ?? 0)).toBeGreaterThan(requests / 5);
  },
);
