// What the environment says about this process. A setting that is missing or wrong ends the process with its name.
import { z } from 'zod';
import { allowsPrivateAddresses } from '../contract/outgoing.ts';
import type { Limits, Timing } from '../limits.ts';
import { defaultLimits, defaultTiming } from '../limits.ts';

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly storeUrl: string;
  readonly tickMs: number;
  readonly logLevel: string;
  readonly timing: Pick<Timing, 'leaseMs' | 'heartbeatMs'>;
  readonly limits: Partial<Limits>;
  readonly allowPrivateAddresses: boolean;
}

const ms = (otherwise: number) => z.coerce.number().int().min(1).max(86_400_000).default(otherwise);

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
  MILLRACE_DATASET_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .default(defaultLimits.datasetBytes),
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
    logLevel: set.MILLRACE_LOG_LEVEL,
    timing: { leaseMs: set.MILLRACE_LEASE_MS, heartbeatMs: set.MILLRACE_HEARTBEAT_MS },
    limits: { datasetBytes: set.MILLRACE_DATASET_BYTES },
    allowPrivateAddresses: allowsPrivateAddresses(env),
  };
}
