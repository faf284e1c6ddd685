// Settings that the API has wherever it runs, read from the environment of the process or of the Worker.
import { z } from 'zod';
import { allowsPrivateAddresses } from './contract/outgoing.ts';
import type { Limits, Timing } from './limits.ts';
import { defaultLimits, defaultTiming } from './limits.ts';
import { defaultKeep, type Keep } from './retention/keep.ts';

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export type Environment = Readonly<Record<string, unknown>>;

export interface ServiceSettings {
  readonly logLevel: string;
  readonly metricsToken: string | undefined;
  readonly timing: Pick<Timing, 'leaseMs' | 'heartbeatMs'>;
  readonly limits: Partial<Limits>;
  readonly keep: Keep;
  readonly allowPrivateAddresses: boolean;
}

export const milliseconds = (otherwise: number) =>
  z.coerce.number().int().min(1).max(86_400_000).default(otherwise);

const count = (otherwise: number) => z.coerce.number().int().min(1).max(1_000_000_000).default(otherwise);

/** Of time after which something goes; absent: never. */
const period = z
  .string()
  .regex(/^[1-9][0-9]{0,4}[hd]$/, 'a whole number followed by h or d, for example "90d"')
  .transform((text) => Number(text.slice(0, -1)) * (text.endsWith('d') ? 86_400_000 : 3_600_000))
  .optional();

export const serviceFields = (datasetBytes = defaultLimits.datasetBytes) => ({
  MILLRACE_LEASE_MS: milliseconds(defaultTiming.leaseMs),
  MILLRACE_HEARTBEAT_MS: milliseconds(defaultTiming.heartbeatMs),
  MILLRACE_DATASET_BYTES: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).default(datasetBytes),
  MILLRACE_REQUESTS_PER_MINUTE: count(defaultLimits.requestsPerMinute),
  MILLRACE_REQUEST_BURST: count(defaultLimits.requestBurst),
  MILLRACE_STREAMS_PER_KEY: count(defaultLimits.streamsPerKey),
  MILLRACE_REFUSALS_PER_MINUTE: count(defaultLimits.refusalsPerMinute),
  MILLRACE_KEEP_EVENTS: period,
  MILLRACE_KEEP_SAMPLES: period,
  MILLRACE_KEEP_CHECKPOINTS: period,
  MILLRACE_KEEP_LITTER: period,
  MILLRACE_METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,500}$/, 'needs 16 visible ASCII characters or more')
    .optional(),
  MILLRACE_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** @throws SettingsError naming every setting that is not right. */
export function parseSettings<T extends z.ZodType>(schema: T, env: Environment): z.infer<T> {
  const parsed = schema.safeParse(env);
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
  );
}

type Fields = z.infer<z.ZodObject<ReturnType<typeof serviceFields>>>;

/** @throws SettingsError where the pace cannot work. */
export function serviceSettings(set: Fields, env: Environment): ServiceSettings {
  if (set.MILLRACE_HEARTBEAT_MS * 2 > set.MILLRACE_LEASE_MS)
    throw new SettingsError(
      'MILLRACE_LEASE_MS must be at least twice MILLRACE_HEARTBEAT_MS: one late heartbeat must not lose a job',
    );
  return {
    logLevel: set.MILLRACE_LOG_LEVEL,
    metricsToken: set.MILLRACE_METRICS_TOKEN,
    timing: { leaseMs: set.MILLRACE_LEASE_MS, heartbeatMs: set.MILLRACE_HEARTBEAT_MS },
    limits: {
      datasetBytes: set.MILLRACE_DATASET_BYTES,
      requestsPerMinute: set.MILLRACE_REQUESTS_PER_MINUTE,
      requestBurst: set.MILLRACE_REQUEST_BURST,
      streamsPerKey: set.MILLRACE_STREAMS_PER_KEY,
      refusalsPerMinute: set.MILLRACE_REFUSALS_PER_MINUTE,
    },
    keep: {
      ...defaultKeep,
      eventsMs: set.MILLRACE_KEEP_EVENTS,
      samplesMs: set.MILLRACE_KEEP_SAMPLES,
      checkpointsMs: set.MILLRACE_KEEP_CHECKPOINTS,
      litterMs: set.MILLRACE_KEEP_LITTER ?? defaultKeep.litterMs,
    },
    allowPrivateAddresses: allowsPrivateAddresses(env as Record<string, string | undefined>),
  };
}
