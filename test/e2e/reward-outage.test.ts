// A job whose rewards come from an HTTP service that goes away in mid-stage, end to end with real processes: the trainer waits
// rather than learn from what is left, and what it learns in the end is what it would have learnt without the outage.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventBody, JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import type { MathRow, PreferenceRow } from '../../api/contract/task.ts';
import { datasets } from '../../examples/digits/generate.ts';
import { prefixReward } from '../../runner/rewards/prefix.ts';
import { scored } from '../../runner/rewards/reward.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { followToEnd, lastCheckpoint, tinySpec, weightsOf } from './tiny-job.ts';

const limitMs = 120_000;
const steps = 12;
const rolloutsPerStep = 32;
const batch = 8;
/** Each row's own answer is graded before the first step. */
const golds = 40;
/** It goes away in the middle of this step's rollouts. */
const outageStep = 8;
/** How long it is away where it comes back by the clock; a run by hand may take the minute that operators fear. */
const awayMs = Number(process.env['OUTAGE_MS'] ?? 3_000);
const scoredBefore = golds + (outageStep - 1) * rolloutsPerStep + rolloutsPerStep / 2;

/** A grader of the test's own: prefix rewards over HTTP, 1 for the whole answer. */
class PrefixService {
  /** Answers after which it goes away; undefined: never. */
  goesAfter: number | undefined;
  /** Refusals after which it is back; undefined: never. */
  backAfter: number | undefined;
  /** Milliseconds after its first refusal when it is back; undefined: never. */
  awayMs: number | undefined;
  /** performance.now() of the first refusal. */
  awaySince: number | undefined;
  scored = 0;
  refused = 0;
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/grade`;
  }

  /** As new, for the next job. */
  plan(goesAfter?: number, { backAfter, awayMs }: { backAfter?: number; awayMs?: number } = {}): void {
    Object.assign(this, { goesAfter, backAfter, awayMs, awaySince: undefined, scored: 0, refused: 0 });
  }

  get #isDown(): boolean {
    if (this.goesAfter === undefined || this.scored < this.goesAfter) return false;
    this.awaySince ??= performance.now();
    const isBack = performance.now() - this.awaySince >= (this.awayMs ?? Infinity);
    return !isBack && this.refused < (this.backAfter ?? Infinity);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part as string;
    if (this.#isDown) {
      this.refused++;
      response.writeHead(503).end('under repair');
      return;
    }
    const { items } = JSON.parse(body) as { items: { task: MathRow | PreferenceRow; response: string }[] };
    const results = items.map(({ task, response: given }) => {
      const answer = 'chosen' in task ? task.chosen : task.answer;
      return given === answer ? scored(1) : prefixReward(answer, given);
    });
    this.scored += items.length;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const service = new PrefixService();
let dir: TempDir;
let stack: Stack;
let undisturbed: string;

beforeAll(async () => {
  dir = await tempDir('outage');
  await service.start();
  stack = await startStack({
    dir: dir.path,
    storeUrl: pathToFileURL(join(dir.path, 'store')).href,
    env: { MILLRACE_ALLOW_PRIVATE_ADDRESSES: '1' },
  });
});
afterAll(async () => {
  await stack.stop();
  await service.stop();
  await dir.remove();
});

type Kind = 'math' | 'rlhf';

/** The tiny job, shorter, its RL stage graded by the service: tasks with an answer, or pairs of which one is better. */
async function submit(rewards: JobSpecInput['rewards'] = {}, kind: Kind = 'math'): Promise<string> {
  const spec = await tinySpec(stack.client);
  if (spec.type !== 'cascade') throw new Error('the tiny job is a cascade');
  const grader = { type: 'remote', url: service.url, batch, retries: 0 } as const;
  const [sft, math] = spec.stages;
  const data = kind === 'math' ? (math as { data: string }).data : await pairs();
  const stages = [
    { ...sft, steps: 6 },
    { ...math, kind, data, steps, grader },
  ] as typeof spec.stages;
  return (await stack.client.createJob({ ...spec, stages, rewards })).id;
}

/** The example's sequences; the worse answer of each is another's. */
async function pairs(): Promise<string> {
  const rows = datasets()['train.jsonl']!.split('\n').slice(0, golds);
  const tasks = rows.map((row) => JSON.parse(row) as MathRow);
  const lines = tasks.map(({ prompt, answer: chosen }, at) =>
    JSON.stringify({ prompt, chosen, rejected: `${tasks[(at + 1) % golds]!.answer},` }),
  );
  return (await stack.client.createDataset({ name: 'tiny-pairs', kind: 'preference' }, lines.join('\n'))).id;
}

/** Events of the job up to the one that is looked for. */
async function followTo(job: string, isLast: (body: EventBody) => boolean): Promise<EventBody[]> {
  const bodies: EventBody[] = [];
  for await (const { body } of stack.client.events(job)) {
    bodies.push(body);
    if (isLast(body)) return bodies;
  }
  throw new Error(`the job ended first: ${JSON.stringify(bodies.at(-1))}`);
}

const ofType = <Type extends EventBody['type']>(events: readonly JobEvent[], type: Type) =>
  events.flatMap(({ body }) => (body.type === type ? [body as Extract<EventBody, { type: Type }>] : []));

/** Its final weights; every step of the stage was made once the history is read to its end. */
async function finalWeights(job: string, stage: Kind = 'math'): Promise<string> {
  const { state, reason, message } = await stack.client.job(job);
  expect({ state, reason, message }).toMatchObject({ state: 'succeeded' });
  const query = { stage, key: 'unscored', limit: 1000 };
  const { data } = await stack.client.metrics(job, query);
  expect(data.map(({ step, value }) => [step, value])).toEqual(
    Array.from({ length: steps }, (_, at) => [at + 1, 0]),
  );
  const checkpoint = await lastCheckpoint(stack.client, job);
  expect(checkpoint).toMatchObject({ stage, step: steps, kind: 'final' });
  return weightsOf(checkpoint);
}

test(
  'a service that is there scores every rollout once',
  async () => {
    service.plan();
    const job = await submit();
    const events = await followToEnd(stack.client, job);
    undisturbed = await finalWeights(job);
    expect(service).toMatchObject({ scored: golds + steps * rolloutsPerStep, refused: 0 });
    expect(ofType(events, 'reward_waiting')).toEqual([]);
  },
  limitMs,
);

test(
  'one that is away for a while is waited for, and nothing else is learnt',
  async () => {
    // Two batches, refused at first, at once again, and after a second.
    service.plan(scoredBefore, { backAfter: 6 });
    const job = await submit();
    const events = await followToEnd(stack.client, job);
    const place = { stage: 'math', step: outageStep, suite: null };
    expect(ofType(events, 'reward_waiting')).toEqual([
      {
        ...{ type: 'reward_waiting', ...place, unscored: 16, of: rolloutsPerStep, code: 'unreachable' },
        detail: expect.stringMatching(/\/grade: answered 503: "under repair"/) as string,
      },
    ]);
    const [resumed, ...more] = ofType(events, 'reward_resumed');
    expect([resumed, more]).toMatchObject([place, []]);
    expect(resumed!.waited_s).toBeGreaterThan(2.9);
    expect(service.scored).toBe(golds + steps * rolloutsPerStep);
    expect(await finalWeights(job)).toBe(undisturbed);
  },
  limitMs,
);

test(
  'one that stays away pauses the job with what it has learnt; resumed, it ends as if nothing had been',
  async () => {
    service.plan(scoredBefore);
    const job = await submit({ timeout: '2s' });
    await followTo(job, (body) => body.type === 'state' && body.to === 'paused');
    expect(await stack.client.job(job)).toMatchObject({
      state: 'paused',
      reason: 'reward_unavailable',
      message: expect.stringMatching(
        /^stage math, step 8: for 2s .* 16 of 32 answers: unreachable.* resume the job/,
      ) as string,
    });
    const kept = await lastCheckpoint(stack.client, job);
    expect(kept).toMatchObject({ stage: 'math', step: outageStep - 1, kind: 'step' });
    const { refused } = service;
    expect(refused).toBeGreaterThan(0);

    service.plan();
    await stack.client.resumeJob(job);
    const events = await followToEnd(stack.client, job);
    expect(ofType(events, 'attempt_started').map(({ resumed_from }) => resumed_from)).toEqual([
      null,
      kept.id,
    ]);
    expect(ofType(events, 'rewound')).toEqual([{ type: 'rewound', stage: 'math', to_step: outageStep - 1 }]);
    // Gold was found good before, and is not asked about again.
    expect(service.scored).toBe((steps - outageStep + 1) * rolloutsPerStep);
    expect(await finalWeights(job)).toBe(undisturbed);
  },
  limitMs,
);

test(
  'a job that waits is cancelled within seconds',
  async () => {
    service.plan(scoredBefore);
    const job = await submit();
    await followTo(job, ({ type }) => type === 'reward_waiting');
    // In the second pause, which is of two seconds, or a later one.
    await until(() => service.refused > 4, 'the service has been asked once more');
    const since = performance.now();
    await stack.client.cancelJob(job);
    await followToEnd(stack.client, job);
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(await stack.client.job(job)).toMatchObject({ state: 'cancelled', reason: null });
  },
  limitMs,
);

test(
  'one that is away when the job begins is waited for before gold is judged',
  async () => {
    // Five batches of gold, refused at first and at once again.
    service.plan(0, { backAfter: (2 * golds) / batch });
    const job = await submit();
    const events = await followToEnd(stack.client, job);
    const place = { stage: 'math', step: null, suite: null };
    expect(ofType(events, 'reward_waiting')).toMatchObject([{ ...place, unscored: golds, of: golds }]);
    expect(ofType(events, 'reward_resumed')).toMatchObject([place]);
    expect(await finalWeights(job)).toBe(undisturbed);
  },
  limitMs,
);

describe('an rlhf stage', () => {
  let undisturbedPairs: string;
  beforeAll(async () => {
    service.plan();
    const job = await submit({}, 'rlhf');
    await followToEnd(stack.client, job);
    expect(service).toMatchObject({ scored: golds + steps * rolloutsPerStep, refused: 0 });
    undisturbedPairs = await finalWeights(job, 'rlhf');
  }, limitMs);

  test(
    `whose service is away for ${awayMs / 1000} s waits, and learns what it would have learnt without the outage`,
    async () => {
      service.plan(scoredBefore, { awayMs });
      const job = await submit({}, 'rlhf');
      const events = await followToEnd(stack.client, job);
      const place = { stage: 'rlhf', step: outageStep, suite: null };
      expect(ofType(events, 'reward_waiting')).toMatchObject([
        { ...place, unscored: 16, of: rolloutsPerStep },
      ]);
      const [resumed, ...more] = ofType(events, 'reward_resumed');
      expect([resumed, more]).toMatchObject([place, []]);
      // Asked again after 1, 2, 4 … 30 s: it is found back at most half a minute late.
      expect(resumed!.waited_s).toBeGreaterThan(0.99 * (awayMs / 1000));
      expect(resumed!.waited_s).toBeLessThan(awayMs / 1000 + 35);
      expect(ofType(events, 'attempt_started')).toHaveLength(1);
      console.log(`away for ${awayMs / 1000} s: waited ${resumed!.waited_s} s, ${service.refused} refusals`);
      // Each answer is scored by the service, once: none was learnt from with anything else.
      expect(service.scored).toBe(golds + steps * rolloutsPerStep);
      expect(await finalWeights(job, 'rlhf')).toBe(undisturbedPairs);
    },
    limitMs + 2 * awayMs,
  );

  test(
    'whose service stays away is paused with what it has learnt; resumed, it ends as if nothing had been',
    async () => {
      service.plan(scoredBefore);
      const job = await submit({ timeout: '2s' }, 'rlhf');
      await followTo(job, (body) => body.type === 'state' && body.to === 'paused');
      expect(await stack.client.job(job)).toMatchObject({ state: 'paused', reason: 'reward_unavailable' });
      const kept = await lastCheckpoint(stack.client, job);
      expect(kept).toMatchObject({ stage: 'rlhf', step: outageStep - 1, kind: 'step' });
      service.plan();
      await stack.client.resumeJob(job);
      await followToEnd(stack.client, job);
      expect(service.scored).toBe((steps - outageStep + 1) * rolloutsPerStep);
      expect(await finalWeights(job, 'rlhf')).toBe(undisturbedPairs);
    },
    limitMs,
  );

  test(
    'that waits is paused on request within seconds, its last step kept',
    async () => {
      service.plan(scoredBefore);
      const job = await submit({}, 'rlhf');
      await followTo(job, ({ type }) => type === 'reward_waiting');
      await until(() => service.refused > 4, 'the service has been asked once more');
      const since = performance.now();
      expect((await stack.client.pauseJob(job)).state).toBe('pausing');
      await followTo(job, (body) => body.type === 'state' && body.to === 'paused');
      expect(performance.now() - since).toBeLessThan(10_000);
      expect(await stack.client.job(job)).toMatchObject({ state: 'paused', reason: null });
      expect(await lastCheckpoint(stack.client, job)).toMatchObject({ stage: 'rlhf', step: outageStep - 1 });
      await stack.client.cancelJob(job);
    },
    limitMs,
  );
});
