// What the environment says about this process. A setting that is missing or wrong ends the process with its name.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ModelNames } from '../contract/model-names.ts';
import { modelNames } from '../contract/model-names.ts';
import { allowsPrivateAddresses } from '../contract/outgoing.ts';
import type { Limits, Timing } from '../limits.ts';
import { defaultLimits, defaultTiming } from '../limits.ts';
import { defaultKeep, type Keep } from '../retention/keep.ts';

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly storeUrl: string;
  readonly tickMs: number;
  readonly cleanMs: number;
  readonly keep: Keep;
  readonly logLevel: string;
  readonly timing: Partial<Timing>;
  readonly limits: Partial<Limits>;
  /** Header in which a proxy says where a request comes from; undefined: there is none in front. */
  readonly addressHeader: string | undefined;
  readonly allowPrivateAddresses: boolean;
  readonly models: ModelNames;
}

const ms = (otherwise: number) => z.coerce.number().int().min(1).max(86_400_000).default(otherwise);

const count = (otherwise: number) => z.coerce.number().int().min(1).max(1_000_000_000).default(otherwise);
/** Of time after which something goes; absent: never. */
const period = z
  .string()
  .regex(/^[1-9][0-9]{0,4}[hd]$/, 'a whole number followed by h or d, for example "90d"')
  .transform((text) => Number(text.slice(0, -1)) * (text.endsWith('d') ? 86_400_000 : 3_600_000))
  .optional();

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(7420),
  DATABASE_URL: z
    .string('set it to postgres://user:password@host:port/database')
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  STORE_URL: z.string('set it to file:///folder or s3://bucket/prefix').min(1),
  MILLRACE_LEASE_MS: ms(defaultTiming.leaseMs),
  MILLRACE_HEARTBEAT_MS: ms(defaultTiming.heartbeatMs),
  MILLRACE_TICK_MS: ms(1_000),
  MILLRACE_CLEAN_MS: ms(60_000),
  MILLRACE_KEEP_EVENTS: period,
  MILLRACE_KEEP_SAMPLES: period,
  MILLRACE_KEEP_CHECKPOINTS: period,
  MILLRACE_KEEP_LITTER: period,
  MILLRACE_DATASET_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .default(defaultLimits.datasetBytes),
  MILLRACE_REQUESTS_PER_MINUTE: count(defaultLimits.requestsPerMinute),
  MILLRACE_REQUEST_BURST: count(defaultLimits.requestBurst),
  MILLRACE_STREAMS_PER_KEY: count(defaultLimits.streamsPerKey),
  MILLRACE_REFUSALS_PER_MINUTE: count(defaultLimits.refusalsPerMinute),
  MILLRACE_ADDRESS_HEADER: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/i, 'the name of a header, such as x-forwarded-for')
    .optional(),
  MILLRACE_MODELS: z.string().min(1).optional(),
  MILLRACE_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** @throws SettingsError naming every setting that is not right. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success)
    throw new SettingsError(
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const set = parsed.data;
  if (set.MILLRACE_HEARTBEAT_MS * 2 > set.MILLRACE_LEASE_MS)
    throw new SettingsError(
      'MILLRACE_LEASE_MS must be at least twice MILLRACE_HEARTBEAT_MS: one late heartbeat must not lose a job',
    );
  return {
    host: set.HOST,
    port: set.PORT,
    databaseUrl: set.DATABASE_URL,
    storeUrl: set.STORE_URL,
    tickMs: set.MILLRACE_TICK_MS,
    cleanMs: set.MILLRACE_CLEAN_MS,
    keep: {
      ...defaultKeep,
      eventsMs: set.MILLRACE_KEEP_EVENTS,
      samplesMs: set.MILLRACE_KEEP_SAMPLES,
      checkpointsMs: set.MILLRACE_KEEP_CHECKPOINTS,
      litterMs: set.MILLRACE_KEEP_LITTER ?? defaultKeep.litterMs,
    },
    logLevel: set.MILLRACE_LOG_LEVEL,
    timing: { leaseMs: set.MILLRACE_LEASE_MS, heartbeatMs: set.MILLRACE_HEARTBEAT_MS },
    limits: {
      datasetBytes: set.MILLRACE_DATASET_BYTES,
      requestsPerMinute: set.MILLRACE_REQUESTS_PER_MINUTE,
      requestBurst: set.MILLRACE_REQUEST_BURST,
      streamsPerKey: set.MILLRACE_STREAMS_PER_KEY,
      refusalsPerMinute: set.MILLRACE_REFUSALS_PER_MINUTE,
    },
    addressHeader: set.MILLRACE_ADDRESS_HEADER,
    allowPrivateAddresses: allowsPrivateAddresses(env),
    models: readModelNames(set.MILLRACE_MODELS),
  };
}

/** A JSON file: {"NAME": {"init": …, "tuning": …, "resources": …}}. */
function readModelNames(path: string | undefined): ModelNames {
  if (path === undefined) return {};
  try {
    const parsed = modelNames.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new Error(z.prettifyError(parsed.error));
  } catch (cause) {
    throw new SettingsError(
      `MILLRACE_MODELS: ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}
