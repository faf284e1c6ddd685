// A committed checkpoint is complete: every file of every one is read from the store and hashed, the manifest lists just these, and
// the commit is told of once, by the attempt that made it. What lies in the store beside them is counted.
import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { manifest as manifestSchema, manifestName } from '../../../api/contract/checkpoint.ts';
import type { CheckpointCommit } from '../../../api/contract/checkpoint.ts';
import type { ObjectStore } from '../../../store/store.ts';
import type { History } from './history.ts';

interface CheckpointRecord {
  readonly id: string;
  readonly job_id: string;
  readonly attempt: number;
  readonly prefix: string;
  readonly manifest_sha256: string;
  readonly files: CheckpointCommit['files'];
}

export interface StoreFindings {
  readonly breaches: string[];
  readonly checkpoints: number;
  readonly files: number;
  readonly bytes: number;
  /** Under no committed checkpoint, no sample index and no dataset: what garbage collection is for. */
  readonly orphans: { readonly objects: number; readonly bytes: number; readonly listed: number };
}

export async function lookAtStore(
  sql: postgres.Sql,
  store: ObjectStore,
  histories: readonly History[],
): Promise<StoreFindings> {
  const rows = await committed(sql);
  const breaches = untold(rows, histories);
  let [files, bytes] = [0, 0];
  for (const row of rows) {
    breaches.push(...(await filesOf(store, row)));
    files += row.files.length + 1;
    bytes += row.files.reduce((sum, { size }) => sum + size, 0);
  }
  return { breaches, checkpoints: rows.length, files, bytes, orphans: await orphansOf(sql, store, rows) };
}

async function committed(sql: postgres.Sql): Promise<CheckpointRecord[]> {
  const rows = await sql<(Omit<CheckpointRecord, 'files'> & { files: string })[]>`
    select id, job_id, attempt, prefix, manifest_sha256, files::text as files from checkpoints order by id`;
  return rows.map((row) => ({ ...row, files: JSON.parse(row.files) as CheckpointCommit['files'] }));
}

function untold(rows: readonly CheckpointRecord[], histories: readonly History[]): string[] {
  const told = histories.flatMap(({ events }) =>
    events.flatMap(({ attempt, body }) =>
      body.type === 'checkpoint' ? [`${body.checkpoint}/${attempt}`] : [],
    ),
  );
  const made = rows.map(({ id, attempt }) => `${id}/${attempt}`);
  return [
    ...made.filter((one) => !told.includes(one)).map((one) => `${one}: committed, and no event says so`),
    ...told
      .filter((one) => !made.includes(one))
      .map((one) => `${one}: an event of a checkpoint that is not there`),
    ...told.filter((one, at) => told.indexOf(one) !== at).map((one) => `${one}: told of twice`),
  ];
}

async function filesOf(store: ObjectStore, row: CheckpointRecord): Promise<string[]> {
  const { id, prefix, files, manifest_sha256 } = row;
  const breaches: string[] = [];
  try {
    const manifest = await read(store, `${prefix}${manifestName}`);
    if (hashOf(manifest) !== manifest_sha256)
      breaches.push(`${id}: the manifest in the store is another one`);
    const listed = manifestSchema.parse(JSON.parse(manifest.toString()));
    if (JSON.stringify(listed.files) !== JSON.stringify(files))
      breaches.push(`${id}: the manifest lists other files than were committed`);
    if (listed.job !== row.job_id || listed.attempt !== row.attempt)
      breaches.push(`${id}: the manifest is of ${listed.job}, attempt ${listed.attempt}`);
    for (const { name, size, sha256 } of files) {
      const body = await read(store, `${prefix}${name}`);
      if (body.length !== size) breaches.push(`${id}: ${name} has ${body.length} bytes, not ${size}`);
      if (hashOf(body) !== sha256) breaches.push(`${id}: ${name} has another SHA-256`);
    }
  } catch (error) {
    breaches.push(`${id}: ${(error as Error).message}`);
  }
  return breaches;
}

async function read(store: ObjectStore, key: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync((await store.get(key)) as AsyncIterable<Buffer>));
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function orphansOf(
  sql: postgres.Sql,
  store: ObjectStore,
  rows: readonly CheckpointRecord[],
): Promise<StoreFindings['orphans']> {
  const named = new Set(
    rows.flatMap(({ prefix, files }) =>
      [manifestName, ...files.map(({ name }) => name)].map((name) => prefix + name),
    ),
  );
  for (const { key } of await sql<{ key: string }[]>`select key from samples union select key from datasets`)
    named.add(key);
  let [objects, bytes, listed] = [0, 0, 0];
  for await (const { key, size } of store.list('')) {
    listed += 1;
    if (named.has(key)) continue;
    objects += 1;
    bytes += size;
  }
  return { objects, bytes, listed };
}
