// Runners that serve a model: how they register themselves, and what they must say again to be thought alive. Another part
// of the runner protocol than jobs: a serving runner claims nothing.
import { z } from 'zod';
import { checkpointId, name } from './names.ts';

const servingId = z.string().regex(/^srv_[0-9a-z]{20,40}$/, 'a serving runner’s id looks like srv_…');

/** Names that a model is served by; `ckpt_…` is kept for checkpoints. */
export const servedName = z
  .string()
  .regex(
    /^(?![Cc][Kk][Pp][Tt]_)[A-Za-z0-9][A-Za-z0-9._/:-]{0,127}$/,
    'letters, digits and "._/:-", at most 128, starting with a letter or digit, and not with ckpt_',
  );

/** Where clouds hand out credentials to whoever asks: link-local addresses, and the one of AWS in IPv6 that is none. */
const isMetadataHost = (host: string): boolean =>
  /^169\.254\./.test(host) ||
  /^\[fe[89ab]/i.test(host) ||
  /^\[::ffff:a9fe:/i.test(host) ||
  host === '[fd00:ec2::254]';

function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must be an http(s) URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user and password';
  if (url.search !== '' || url.hash !== '') return 'must have no query and no fragment';
  return isMetadataHost(url.hostname)
    ? 'must not be a link-local address, nor that of a metadata service'
    : undefined;
}

export const advertisedUrl = z
  .string()
  .max(500)
  .superRefine((text, context) => {
    const message = urlProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const serveRequest = z
  .object({
    protocol: z.number().int(),
    name,
    checkpoint: z.union([checkpointId, z.null()]).describe('where the model is a checkpoint of the project'),
    model: z.union([servedName, z.null()]).describe('the name that requests may use'),
    url: advertisedUrl.describe('where the API reaches this runner'),
    secret: z
      .string()
      .regex(/^[\x21-\x7e]{20,200}$/, '20 to 200 visible ASCII characters')
      .describe('sent with every request to that URL'),
    version: z.string().max(100),
  })
  .refine(({ checkpoint, model }) => checkpoint !== null || model !== null, {
    path: ['model'],
    error: 'a runner that serves no checkpoint must name its model',
  });
export type ServeRequest = z.infer<typeof serveRequest>;

export const serveResponse = z.object({
  serving: servingId,
  heartbeat_ms: z.number().int(),
  lease_ms: z.number().int(),
});

/** Also the body of a goodbye. */
export const servingBeat = z.object({ serving: servingId });
export const servingState = z.object({ lease_ms: z.number().int() });
