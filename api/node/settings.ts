// What the environment says about this process. A setting that is missing or wrong ends the process with its name.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ModelNames } from '../contract/model-names.ts';
import { modelNames } from '../contract/model-names.ts';
import type { Environment, ServiceSettings } from '../settings.ts';
import { milliseconds, parseSettings, serviceFields, serviceSettings, SettingsError } from '../settings.ts';

export interface Settings extends ServiceSettings {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly storeUrl: string;
  readonly tickMs: number;
  readonly cleanMs: number;
  /** Header in which a proxy says where a request comes from; undefined: there is none in front. */
  readonly addressHeader: string | undefined;
  readonly models: ModelNames;
}

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(7420),
  DATABASE_URL: z
    .string('set it to postgres://user:password@host:port/database')
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  STORE_URL: z.string('set it to file:///folder or s3://bucket/prefix').min(1),
  MILLRACE_TICK_MS: milliseconds(1_000),
  MILLRACE_CLEAN_MS: milliseconds(60_000),
  MILLRACE_ADDRESS_HEADER: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/i, 'the name of a header, such as x-forwarded-for')
    .optional(),
  MILLRACE_MODELS: z.string().min(1).optional(),
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
    cleanMs: set.MILLRACE_CLEAN_MS,
    addressHeader: set.MILLRACE_ADDRESS_HEADER,
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
