// Rewards from an HTTP service: what docs/graders/remote.md describes. Whatever it does wrong, or does not do, is no answer's
// fault: unscored, with what happened.
import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { GraderOf } from '../../api/contract/grader.ts';
import { durationMs } from '../../api/contract/names.ts';
import type { Task } from '../../api/contract/task.ts';
import { batched } from './batched.ts';
import { goldText } from './gold-text.ts';
import type { Outgoing, OutgoingRequest } from '../../api/outgoing.ts';
import { shownUrl, Unreachable } from '../../api/outgoing.ts';
import { boundedUntilDown, postWithRetries } from './retries.ts';
import type { Patience } from './retries.ts';
import type { Reward } from './reward.ts';
import { invalid, scored, unscored } from './reward.ts';
import { withoutSecret } from './secret.ts';
import { parseJson } from './parse-json.ts';
import type { Verifier } from './verifier.ts';

/** Of the protocol that docs/graders/remote.md describes. */
const VERSION = 1;
const inFlight = 16;
/** Of a detail. */
const shownCharacters = 1_000;
/** Of a result, and characters of the name of one: they go into events and results that have a size. */
const mostParts = 64;
const longestName = 100;
/** Of an answer, for every item of the batch. */
const answerBytes = 256 * 1024;

const detail = z
  .string()
  .transform((text) => text.slice(0, shownCharacters))
  .optional();

const result = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('scored'),
    value: z.number(),
    parts: z
      .record(z.string().max(longestName), z.number())
      .refine((parts) => Object.keys(parts).length <= mostParts, `at most ${mostParts} parts`)
      .default({}),
    detail,
  }),
  z.object({
    status: z.literal('invalid'),
    code: z.enum(['no_answer', 'unparsable', 'timeout']).default('unparsable'),
    value: z.number().default(0),
    detail,
  }),
  z.object({ status: z.literal('unscored'), detail }),
]);

const answer = z.object({ results: z.array(z.unknown()) });

interface Item {
  readonly task: Task;
  readonly response: string;
}

export interface RemoteOptions extends Pick<Patience, 'wait'> {
  readonly outgoing: Outgoing;
  /** The value, not its name. */
  readonly secret?: string | undefined;
}

export function remoteVerifier(grader: GraderOf<'remote'>, options: RemoteOptions): Verifier<Task> {
  const slots = boundedUntilDown(inFlight);
  const ask = batched(grader.batch, (items: readonly Item[]) =>
    slots(() => askService(grader, items, options)).catch((error: unknown) => {
      if (!(error instanceof Unreachable)) throw error;
      const reason = withoutSecret(error.message, options.secret);
      return items.map(() => unscored('unreachable', reason));
    }),
  );
  return {
    grade: (task, response) => ask({ task, response }),
    maxScore: () => grader.max_score ?? Infinity,
    goldResponse: (task) => (grader.max_score === null ? undefined : goldText(task)),
  };
}

async function askService(
  grader: GraderOf<'remote'>,
  items: readonly Item[],
  { outgoing, secret, wait }: RemoteOptions,
): Promise<Reward[]> {
  const body = JSON.stringify({ version: VERSION, items });
  const id = `msg_${randomUUID()}`;
  const request = (): OutgoingRequest => ({
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...signatureHeaders(id, body, secret),
    },
    body,
    timeoutMs: durationMs(grader.timeout),
    maxBytes: answerBytes * items.length,
  });
  const { retries } = grader;
  const answered = await postWithRetries(outgoing, grader.url, request, { retries, wait });
  return rewardsOf(grader, items.length, answered.body);
}

function rewardsOf(grader: GraderOf<'remote'>, count: number, text: string): Reward[] {
  const where = shownUrl(grader.url);
  const parsed = answer.safeParse(parseJson(text));
  if (!parsed.success) throw new Unreachable(`${where}: its answer is not {"results": […]}`, false);
  const { results } = parsed.data;
  if (results.length !== count)
    throw new Unreachable(`${where}: it gave ${results.length} results for ${count} items`, false);
  return results.map((one) => rewardOf(one, grader.max_score ?? Infinity, where));
}

function rewardOf(given: unknown, maxScore: number, where: string): Reward {
  const parsed = result.safeParse(given);
  if (!parsed.success)
    return unscored(
      'unreachable',
      `${where}: a result is malformed: ${z.prettifyError(parsed.error)}`.slice(0, shownCharacters),
    );
  const { data } = parsed;
  if (data.status === 'unscored')
    return unscored('unreachable', data.detail ?? `${where}: it could not score`);
  if (data.value > maxScore)
    return unscored(
      'unreachable',
      `${where}: it scored ${data.value}, above the grader's max_score ${maxScore}`,
    );
  return data.status === 'scored'
    ? scored(data.value, data.parts, data.detail)
    : invalid(data.code, data.value, data.detail);
}

/**
 * As Standard Webhooks signs: HMAC-SHA-256 over "id.timestamp.body". A secret that begins with "whsec_" is base64, any
 * other is taken as its UTF-8 bytes. The id stays the same when a request is sent again.
 */
function signatureHeaders(id: string, body: string, secret: string | undefined): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const marks = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return marks;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...marks, 'webhook-signature': `v1,${signature}` };
}
