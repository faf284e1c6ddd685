// What the environment says about this process. A setting that is missing or wrong ends the process with its name.
import { z } from 'zod';
import type { Environment, ServiceSettings } from '../settings.ts';
import { milliseconds, parseSettings, serviceFields, serviceSettings } from '../settings.ts';

export interface Settings extends ServiceSettings {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly storeUrl: string;
  readonly tickMs: number;
}

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(7420),
  DATABASE_URL: z
    .string('set it to postgres://user:password@host:port/database')
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  STORE_URL: z.string('set it to file:///folder or s3://bucket/prefix').min(1),
  MILLRACE_TICK_MS: milliseconds(1_000),
  ...serviceFields(),
});

/** @throws SettingsError naming every setting that is not right. */
export function readSettings(env: Environment): Settings {
  const set = parseSettings(environment, env);
  return {
    ...serviceSettings(set, env),
    host: set.HOST,
    port: set.PORT,
    databaseUrl: set.DATABASE_URL,
    storeUrl: set.STORE_URL,
    tickMs: set.MILLRACE_TICK_MS,
  };
}
