// After a database was restored, before anything uses it:  DATABASE_URL=… STORE_URL=… node api/restore.ts
// Takes every job out of the hands of runners that the back-up does not know of, and says which objects are missing that
// the database speaks of. Prints one JSON line. Safe to run again.
import { connect } from '../db/connect.ts';
import type { Database } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import {
  checkpointsOf,
  goOnFrom,
  jobsGoingOnFrom,
  releaseHeldJobs,
  requeueErrands,
  skipAttempts,
  storedCheckpoints,
  storedDatasets,
} from '../db/restore.ts';
import { openStore } from '../store/open.ts';
import type { ObjectStore } from '../store/store.ts';
import { manifestName } from './contract/checkpoint.ts';

const pageRows = 200;

export interface Restored {
  readonly released: string[];
  readonly jobs: number;
  readonly errands: number;
  readonly missing_datasets: string[];
  readonly missing_checkpoints: string[];
  /** Jobs that go on from an earlier checkpoint than the database said. */
  readonly rewound: { job: string; to: string | null }[];
}

export async function checkRestored(db: Database, store: ObjectStore): Promise<Restored> {
  const released = await releaseHeldJobs(db);
  const jobs = await skipAttempts(db);
  const errands = await requeueErrands(db);
  const has = async (key: string): Promise<boolean> => (await store.head(key)) !== undefined;
  const missing_datasets = await missing(
    (after) => storedDatasets(db, after, pageRows),
    ({ key }) => has(key),
  );
  const missing_checkpoints = await missing(
    (after) => storedCheckpoints(db, after, pageRows),
    ({ prefix }) => has(prefix + manifestName),
  );
  const rewound: Restored['rewound'] = [];
  for (const { id } of await jobsGoingOnFrom(db, missing_checkpoints)) {
    const there = (await checkpointsOf(db, id)).find((one) => !missing_checkpoints.includes(one.id));
    await goOnFrom(db, id, there?.id ?? null);
    rewound.push({ job: id, to: there?.id ?? null });
  }
  return { released, jobs, errands, missing_datasets, missing_checkpoints, rewound };
}

/** Ids of the rows, page after page, whose object is not there. */
async function missing<Row extends { readonly id: string }>(
  page: (after: string) => Promise<Row[]>,
  has: (row: Row) => Promise<boolean>,
): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ;) {
    const rows = await page(after);
    const there = await Promise.all(rows.map(has));
    found.push(...rows.filter((_, at) => there[at] === false).map(({ id }) => id));
    if (rows.length < pageRows) return found;
    after = rows.at(-1)!.id;
  }
}

async function main(): Promise<void> {
  const { DATABASE_URL: url, STORE_URL: storeUrl } = process.env;
  if (url === undefined || storeUrl === undefined)
    throw new Error('set DATABASE_URL and STORE_URL to what the API uses');
  const store = openStore(storeUrl, process.env);
  await migrate(url);
  const { db, close } = connect(url, 2);
  try {
    const restored = await checkRestored(db, store);
    console.log(JSON.stringify(restored));
    const lost = restored.missing_datasets.length + restored.missing_checkpoints.length;
    if (lost > 0) process.exitCode = 1;
  } finally {
    await close();
  }
}

if (process.argv[1] === import.meta.filename)
  main().catch((error: unknown) => {
    console.error(`millrace restore-check: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
