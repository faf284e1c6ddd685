// Kept rollouts: index rows say where a rollout lies, the shard in the store says what it is. A shard is one
// step's rollouts, thinned by the spec, so it is small; a page reads each of its shards once.
import type { Readable } from 'node:stream';
import type { SampleRow } from '../db/schema.ts';
import type { ObjectStore } from '../store/store.ts';
import type { Sample } from './contract/results.ts';
import { sampleLine } from './contract/results.ts';
import { ProblemError } from './problem.ts';

const maxShardBytes = 256 << 20;

/** In the order of the rows. @throws ProblemError store_unavailable for a shard that is missing or unreadable. */
export async function readSamples(store: ObjectStore, rows: readonly SampleRow[]): Promise<Sample[]> {
  const shards = new Map<string, string[]>();
  for (const { key } of rows) if (!shards.has(key)) shards.set(key, await readLines(store, key));
  return rows.map((row) => ({
    ...lineOf(shards.get(row.key)?.[row.line], row),
    id: String(row.id),
    attempt: row.attempt,
  }));
}

async function readLines(store: ObjectStore, key: string): Promise<string[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of (await store.get(key)) as Readable & AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxShardBytes) throw damaged(key, `it has more than ${maxShardBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8').split('\n');
}

function lineOf(text: string | undefined, row: SampleRow): ReturnType<typeof sampleLine.parse> {
  if (text === undefined) throw damaged(row.key, `it has no line ${row.line}`);
  try {
    return sampleLine.parse(JSON.parse(text));
  } catch (cause) {
    throw damaged(row.key, `line ${row.line} is not a sample`, cause);
  }
}

const damaged = (key: string, what: string, cause?: unknown): ProblemError =>
  new ProblemError(
    'store_unavailable',
    `the object store does not give back what was stored: ${key}: ${what}`,
    { cause },
  );
