// Looks at the database and the store that the environment names, as the API would use them, and prints what it finds, one
// line of JSON a check. `millrace doctor` starts it.
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { sql } from 'drizzle-orm';
import { connect } from '../db/connect.ts';
import type { Database } from '../db/connect.ts';
import { schemaState } from '../db/schema-state.ts';
import { openStore } from '../store/open.ts';
import type { ObjectStore } from '../store/store.ts';
import type { Check } from './contract/check.ts';

/** Leases are counted by the database's clock, and S3 refuses signatures that are off by 15 minutes. */
const clockLimitMs = 5_000;
const skewLimitMs = 60_000;

const say = (check: Omit<Check, 'advice'> & { advice?: string }): void =>
  console.log(JSON.stringify({ advice: '', ...check }));

/** One check; what it throws is what is broken. */
async function look(name: string, advice: string, run: () => Promise<string>): Promise<boolean> {
  try {
    say({ name, result: 'ok', found: await run() });
    return true;
  } catch (error) {
    say({ name, result: 'broken', found: reasonOf(error), advice });
    return false;
  }
}

/** Drizzle's message holds the statement; what the driver said is its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? error.cause : error;
  return inner.message || String((inner as { code?: unknown }).code ?? inner.name);
}

async function lookAtDatabase(db: Database): Promise<void> {
  const reached = await look('database', 'start Postgres, or set DATABASE_URL right', async () => {
    const [row] = await db.execute<{ version: string }>(
      sql`select current_setting('server_version') as version`,
    );
    return `Postgres ${row?.version} answers`;
  });
  if (!reached) return;
  await look('migrations', 'start the API of this version once: it migrates', async () => {
    const state = await schemaState(db);
    if (state === 'behind') throw new Error('migrations of this version are missing');
    return state === 'newer' ? 'a later version has migrated; this one works with it' : 'up to date';
  });
  await look('clock of the database', 'set the clocks of both machines by NTP', async () => {
    const before = Date.now();
    const [row] = await db.execute<{ now: string }>(
      sql`select (extract(epoch from clock_timestamp()) * 1000)::text as now`,
    );
    const off = Math.round(Number(row?.now) - (before + Date.now()) / 2);
    if (Math.abs(off) > clockLimitMs) throw new Error(`differs from this machine's by ${off} ms`);
    return `within ${Math.abs(off)} ms of this machine's`;
  });
}

async function lookAtStore(store: ObjectStore, endpoint: string | undefined): Promise<void> {
  const key = `health/doctor-${randomUUID()}`;
  const body = Buffer.from('written by millrace doctor\n');
  const works = await look(
    'store',
    'see what it says; for S3 the S3_… settings and the rights on the bucket',
    async () => {
      await store.put(key, body);
      const back = await text(await store.get(key));
      await store.delete(key);
      if (back !== body.toString()) throw new Error('an object came back with other bytes');
      if ((await store.head(key)) !== undefined) throw new Error('a deleted object is still there');
      return `${store.describe()}: put, get and delete work`;
    },
  );
  if (!works) return;
  const url = await store.presignGet(key, { expiresIn: 60 });
  if (url === undefined)
    return say({
      name: 'presigned URLs',
      result: 'skipped',
      found: 'this store makes none: bytes go through the API',
    });
  await look('presigned URLs', 'the address of S3_ENDPOINT must be reachable for clients, too', async () => {
    await store.put(key, body);
    const answer = await fetch(url).finally(() => store.delete(key));
    if (!answer.ok) throw new Error(`the server answers ${answer.status} to one`);
    await answer.arrayBuffer();
    return 'one gives its object';
  });
  await look(
    'clock of the store',
    'set the clocks by NTP: signatures of a wrong time are refused',
    async () => {
      const answer = await fetch(endpoint ?? url, { method: 'HEAD' });
      const date = answer.headers.get('date');
      if (date === null) return 'the server tells no time';
      const off = Date.parse(date) - Date.now();
      if (Math.abs(off) > skewLimitMs)
        throw new Error(`differs from this machine's by ${Math.round(off / 1000)} s`);
      return 'agrees with this machine to the minute';
    },
  );
}

const { DATABASE_URL: databaseUrl, STORE_URL: storeUrl, S3_ENDPOINT: endpoint } = process.env;
if (databaseUrl === undefined) say({ name: 'database', result: 'skipped', found: 'DATABASE_URL is not set' });
else {
  const { db, close } = connect(databaseUrl, 1);
  await lookAtDatabase(db).finally(close);
}
if (storeUrl === undefined) say({ name: 'store', result: 'skipped', found: 'STORE_URL is not set' });
else
  try {
    await lookAtStore(openStore(storeUrl, process.env), endpoint);
  } catch (error) {
    say({ name: 'store', result: 'broken', found: reasonOf(error), advice: 'set STORE_URL right' });
  }
