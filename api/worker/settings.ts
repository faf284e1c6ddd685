// What a Worker is given: bindings of wrangler.toml, and settings by the names that they have on Node. What a Worker
// cannot do is bounded here: it has 128 MB of memory for all that goes on in it at a time.
import { z } from 'zod';
import { presigner } from '../../store/presign.ts';
import { r2Store } from '../../store/r2.ts';
import type { R2Bucket } from '../../store/r2-bucket.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { Limits, Timing } from '../limits.ts';
import type { Environment, ServiceSettings } from '../settings.ts';
import { parseSettings, serviceFields, serviceSettings } from '../settings.ts';

export interface WorkerSettings extends ServiceSettings {
  readonly databaseUrl: string;
  readonly store: ObjectStore;
}

/** Of a body, and of what it unpacks to: rows are held in memory, there being no disk. */
const datasetBytes = 16 << 20;
const limits: Partial<Limits> = { datasetUnpackedBytes: 2 * datasetBytes, datasetArrayBytes: datasetBytes };

/** Nobody hears of news by NOTIFY; the platform ends long requests, so ours end first, in an orderly way. Nothing is remembered from one probe to the next. */
const timing: Partial<Timing> = { streamMs: 300_000, writeProbeMs: null };

const isBucket = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as R2Bucket).put === 'function';

const environment = z.object({
  HYPERDRIVE: z.object(
    { connectionString: z.string() },
    'no binding: add [[hyperdrive]] with binding = "HYPERDRIVE" to wrangler.toml',
  ),
  OBJECTS: z.custom<R2Bucket>(
    isBucket,
    'no binding: add [[r2_buckets]] with binding = "OBJECTS" to wrangler.toml',
  ),
  STORE_URL: z
    .string('set it to s3://BUCKET/PREFIX: the bucket of OBJECTS, as runners reach it')
    .regex(/^s3:\/\/[^/?#@]+(\/[^?#]*)?$/, 'must look like s3://BUCKET/PREFIX, the bucket of OBJECTS'),
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).optional(),
  S3_REGION: z.string().default('auto'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  ...serviceFields(datasetBytes),
  MILLRACE_DATASET_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(datasetBytes, `a Worker takes ${datasetBytes} bytes at most: register larger datasets through Node`)
    .default(datasetBytes),
});

/** @throws SettingsError naming every binding and setting that is not right. */
export function readSettings(env: Environment): WorkerSettings {
  const set = parseSettings(environment, env);
  const service = serviceSettings(set, env);
  return {
    ...service,
    limits: { ...limits, ...service.limits },
    timing: { ...timing, ...service.timing },
    databaseUrl: set.HYPERDRIVE.connectionString,
    store: storeOf(set),
  };
}

function storeOf(set: z.infer<typeof environment>): ObjectStore {
  const { hostname: name, pathname } = new URL(set.STORE_URL);
  const prefix = decodeURIComponent(pathname).replace(/^\/|\/$/g, '');
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = set;
  const presign =
    endpoint !== undefined && accessKeyId !== undefined && secretAccessKey !== undefined
      ? presigner({ endpoint, bucket: name, region: set.S3_REGION, accessKeyId, secretAccessKey })
      : undefined;
  return r2Store({ bucket: set.OBJECTS, name, prefix, ...(presign && { presign }) });
}
