// What the supervisor is told by its environment, checked once at the start.
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { acceleratorSetting, name } from '../../api/contract/names.ts';
import type { Accelerator } from '../../api/contract/names.ts';
import type { Abilities } from '../ipc.ts';
import { acceleratorMemoryGb, deviceName } from './memory.ts';
import { parseRoots } from './mounted.ts';

/** Times that only tests shorten, in milliseconds. */
export interface Timing {
  /** Between claims while there is nothing to do. */
  readonly claimMs: number;
  /** A report waits this long for more to say. */
  readonly lingerMs: number;
  /** From the polite signal to SIGKILL. */
  readonly killGraceMs: number;
  /** From a trainer's outcome to its exit. */
  readonly exitGraceMs: number;
  /** A runner that is stopped lets its trainer finish the step at work, and keeps it, for so long; 0: it stops at once. */
  readonly drainMs: number;
  /** For the last reports when the runner itself is stopped. */
  readonly stopMs: number;
  /** The uploader speaks every second; one that says nothing for so long while it has work is ended like a dead one. */
  readonly uploaderSilenceMs: number;
  /** The same of a grader. */
  readonly graderSilenceMs: number;
  /** A grader that finishes no answer for so long hangs. */
  readonly graderStallMs: number;
  /** A grader without an errand is ended. */
  readonly graderIdleMs: number;
}

export const defaultTiming: Timing = {
  claimMs: 1_000,
  lingerMs: 200,
  killGraceMs: 1_000,
  exitGraceMs: 10_000,
  drainMs: 60_000,
  stopMs: 5_000,
  uploaderSilenceMs: 30_000,
  graderSilenceMs: 30_000,
  graderStallMs: 600_000,
  graderIdleMs: 60_000,
};

export interface Settings {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly accelerator: Accelerator;
  readonly memoryGb: number;
  /** Adapter and driver, as far as they are known. */
  readonly device: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Model directories on this machine lie below one of them. */
  readonly modelRoots: readonly string[];
  /** Folder for everything local; each process makes its own inside. */
  readonly scratch: string;
  readonly trainerEntry: string;
  readonly uploaderEntry: string;
  readonly graderEntry: string;
  /** What code it can run. */
  readonly abilities: Abilities;
  readonly timing: Timing;
}

/** What the environment says, before the machine was asked what it has. */
export type AskedSettings = Omit<Settings, 'accelerator' | 'memoryGb' | 'device' | 'abilities'> & {
  readonly accelerator: Accelerator | 'auto';
  readonly memoryGb: number | undefined;
};

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const runnerFolder = resolve(import.meta.dirname, '..');

const labelList = z.string().transform((text, context) => {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const split = pairs.map((pair) => pair.split('=').map((part) => part.trim()));
  if (split.every((parts) => parts.length === 2 && parts[0] !== '')) {
    return Object.fromEntries(split) as Record<string, string>;
  }
  context.addIssue({ code: 'custom', message: 'must look like key=value,key=value' });
  return z.NEVER;
});

const rootList = z.string().transform((text, context) => {
  try {
    return parseRoots(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

function isStoreUrl(url: string): boolean {
  if (!url.startsWith('file:')) return /^s3:\/\/[^/]/.test(url);
  try {
    return fileURLToPath(url) !== '';
  } catch {
    return false;
  }
}

const environment = z.object({
  MILLRACE_URL: z.url({ protocol: /^https?$/, error: 'must be the http(s) address of the service' }),
  MILLRACE_RUNNER_TOKEN: z.string({ error: 'is not set: a key with the scope "runner"' }).min(1, 'is empty'),
  MILLRACE_RUNNER_NAME: name.default('runner'),
  MILLRACE_ACCELERATOR: acceleratorSetting,
  MILLRACE_MEMORY_GB: z.coerce.number().positive().optional(),
  MILLRACE_RUNNER_LABELS: labelList.default({}),
  MILLRACE_MODEL_ROOTS: rootList.default([]),
  MILLRACE_DRAIN_MS: z.coerce.number().int().min(0).max(3_600_000).default(defaultTiming.drainMs),
  MILLRACE_SCRATCH: z.string().min(1).default(join(tmpdir(), 'millrace-scratch')),
  STORE_URL: z
    .string({ error: 'is not set: file:///folder or s3://bucket/prefix' })
    .refine(isStoreUrl, 'must look like file:///folder or s3://bucket/prefix'),
});

/** Throws SettingsError naming every variable that is missing or wrong. */
export function readSettings(variables: NodeJS.ProcessEnv): AskedSettings {
  const parsed = environment.safeParse(variables);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
    throw new SettingsError(`the runner cannot start:\n${lines.join('\n')}`);
  }
  const { data } = parsed;
  return {
    url: data.MILLRACE_URL,
    token: data.MILLRACE_RUNNER_TOKEN,
    name: data.MILLRACE_RUNNER_NAME,
    accelerator: data.MILLRACE_ACCELERATOR,
    memoryGb: data.MILLRACE_MEMORY_GB,
    labels: data.MILLRACE_RUNNER_LABELS,
    modelRoots: [...data.MILLRACE_MODEL_ROOTS, ...pushedModels(data.STORE_URL)],
    scratch: resolve(data.MILLRACE_SCRATCH),
    trainerEntry: join(runnerFolder, 'trainer.ts'),
    uploaderEntry: join(runnerFolder, 'uploader.ts'),
    graderEntry: join(runnerFolder, 'grader.ts'),
    timing: { ...defaultTiming, drainMs: data.MILLRACE_DRAIN_MS },
  };
}

/** Where a store in a folder keeps what `millrace push` brought. */
const pushedModels = (storeUrl: string): string[] =>
  storeUrl.startsWith('file:') ? [join(fileURLToPath(storeUrl), 'models')] : [];

/** The settings of a runner that computes on `found` and has `abilities`. Throws SettingsError where its memory is neither told nor known. */
export function settledOn(found: Accelerator, abilities: Abilities, asked: AskedSettings): Settings {
  return {
    ...asked,
    accelerator: found,
    abilities,
    memoryGb: asked.memoryGb ?? knownMemoryGb(found),
    device: deviceName(found),
  };
}

/** A runner without a figure would claim nothing, or what it cannot hold. */
function knownMemoryGb(wanted: Accelerator): number {
  const known = acceleratorMemoryGb(wanted);
  if (known !== undefined) return known;
  throw new SettingsError(
    `the runner cannot start:\n  MILLRACE_MEMORY_GB: the memory of this machine's ${wanted} device cannot be found out: set it, in GB of 10^9 bytes`,
  );
}
