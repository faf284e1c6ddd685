// What a serving runner is told: by the command line what it serves and where it listens, by the environment which service
// it belongs to. Checked once, every fault named.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { acceleratorSetting, checkpointId, name } from '../../api/contract/names.ts';
import { advertisedUrl, servedName } from '../../api/contract/serving.ts';

export class ServingSettingsError extends Error {
  override readonly name = 'ServingSettingsError';
}

const listen = z
  .string()
  .default('127.0.0.1:0')
  .transform((text, context) => {
    const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
    if (host !== undefined && Number(port) <= 65_535)
      return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
    context.addIssue({
      code: 'custom',
      message: `${text}: looks like 0.0.0.0:8500; port 0 takes a free one`,
    });
    return z.NEVER;
  });

const whole = (otherwise: number, most: number) =>
  z.coerce.number({ error: 'give a whole number' }).int().min(1).max(most).default(otherwise);

const given = z.object({
  model: z.string({ error: 'what is to be served?' }),
  checkpoint: checkpointId.optional(),
  as: servedName.optional(),
  listen,
  advertise: advertisedUrl.optional(),
  context: whole(4_096, 10_000_000),
  parallel: whole(8, 512),
  MILLRACE_URL: z.url({ protocol: /^https?$/, error: 'must be the http(s) address of the service' }),
  MILLRACE_RUNNER_TOKEN: z.string({ error: 'is not set: a key with the scope "runner"' }).min(1, 'is empty'),
  MILLRACE_RUNNER_NAME: name.optional(),
  MILLRACE_ACCELERATOR: acceleratorSetting,
});
export type ServingSettings = ReturnType<typeof readServingSettings>;

/** Before anything else of the name, since host names may begin with anything. */
const ownName = (): string =>
  `serve-${hostname()
    .replaceAll(/[^a-z0-9.-]+/gi, '-')
    .slice(0, 50)}`;

/** @throws ServingSettingsError. */
export function readServingSettings(words: readonly string[], env: NodeJS.ProcessEnv) {
  const texts = ['model', 'checkpoint', 'as', 'listen', 'advertise', 'context', 'parallel'];
  const options = Object.fromEntries(texts.map((flag) => [flag, { type: 'string' }] as const));
  const { values } = parseArgs({ args: [...words], options });
  const parsed = given.safeParse({ ...env, ...values });
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path: [field], message }) => {
      const isFlag = texts.includes(String(field));
      return `  ${isFlag ? '--' : ''}${String(field)}: ${message}`;
    });
    throw new ServingSettingsError(`the runner cannot serve:\n${lines.join('\n')}`);
  }
  const { data } = parsed;
  if (data.checkpoint === undefined && data.as === undefined)
    throw new ServingSettingsError(
      'the runner cannot serve:\n  --as: name what is served, since it is no checkpoint',
    );
  if (/^(0\.0\.0\.0|::)$/.test(data.listen.host) && data.advertise === undefined)
    throw new ServingSettingsError(
      `the runner cannot serve:\n  --advertise: the API cannot reach ${data.listen.host}, which means every address of this machine: give the URL of one`,
    );
  return {
    ...data,
    url: data.MILLRACE_URL,
    token: data.MILLRACE_RUNNER_TOKEN,
    accelerator: data.MILLRACE_ACCELERATOR,
    name: data.MILLRACE_RUNNER_NAME ?? ownName(),
    /** Made anew by every process, and known to nobody but the service. */
    secret: randomBytes(32).toString('base64url'),
  };
}
