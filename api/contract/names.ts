// Identifiers and names as they cross the wire.
import { z } from 'zod';

const id = (prefix: string, what: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}_[0-9a-z]{20,40}$`),
      `${what} is ${prefix}_ and at least 20 lower-case letters and digits`,
    );

export const jobId = id('job', 'a job id');
export const datasetId = id('ds', 'a dataset id');
export const checkpointId = id('ckpt', 'a checkpoint id');
export const runnerId = id('run', 'a runner id');
export const errandId = id('err', 'an errand id');
export const projectId = id('proj', 'a project id');
export const keyId = id('key', 'a key id');
export const webhookId = id('hook', 'a webhook id');
export const deliveryId = id('dlv', 'a delivery id');
export const fileId = id('file', 'a file id');

/** Names of jobs, stages, suites, datasets and runners: they appear in object keys, metric paths and URLs. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'letters, digits, ".", "_" and "-", at most 63, starting with a letter or digit',
  );

/** Whole numbers as a database column of 32 bits keeps them: attempts, steps, rows. */
export const int32 = z.number().int().min(-2_147_483_648).max(2_147_483_647);

/** A timer of 32 bits reaches no further than 24.8 days: past that it would fire at once. */
const longestMs = 24 * 24 * 3_600_000;

/** Durations such as "30s", "15m", "2h". */
export const duration = z
  .string()
  .regex(/^[1-9][0-9]{0,6}(s|m|h)$/, {
    error: 'a whole number followed by s, m or h, for example "15m"',
    abort: true,
  })
  .refine((text) => durationMs(text) <= longestMs, 'at most 24 days (576h)');

/** Milliseconds of a `duration`. */
export function durationMs(text: string): number {
  const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[text.slice(-1)];
  if (unit === undefined) throw new Error(`not a duration: ${text}`);
  return Number(text.slice(0, -1)) * unit;
}

export const labels = z
  .record(z.string().min(1).max(63), z.string().max(255))
  .refine((map) => Object.keys(map).length <= 32, 'at most 32 labels');

/** What a runner computes with, and what a job asks for. */
export const accelerator = z.enum(['cpu', 'webgpu', 'cuda']);
export type Accelerator = z.infer<typeof accelerator>;

/** What products with weights round their operands to; everything else is float32. */
export const precision = z.enum(['float32', 'float16', 'bfloat16']);

/** What a runner is told to compute with: `auto` is the first of cuda, webgpu and cpu that its machine has. */
export const acceleratorSetting = z.enum([...accelerator.options, 'auto']).default('cpu');

export const timestamp = z.iso.datetime({ offset: true });

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits');
