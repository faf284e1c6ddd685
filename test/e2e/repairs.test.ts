// Gates that distil over REST with real processes: the repair runs and is killed in its midst, pauses the job where it was not enough,
// and is left out where nothing is to be mended.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventBody, JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { childOf } from '../runner/support/processes.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { followToEnd, lastCheckpoint, tinySpec, weightsOf } from './tiny-job.ts';

const limitMs = 300_000;

type Cascade = Extract<JobSpecInput, { type: 'cascade' }>;

let dir: TempDir;
let stack: Stack;
let tiny: Cascade;

beforeAll(async () => {
  dir = await tempDir('repairs');
  stack = await startStack({ dir: dir.path, storeUrl: pathToFileURL(join(dir.path, 'store')).href });
  tiny = (await tinySpec(stack.client)) as Cascade;
}, limitMs);
afterAll(async () => {
  await stack.stop();
  await dir.remove();
});

const sampled = { prompts_per_step: 6, max_response: 12 };

const ofType = <Type extends EventBody['type']>(events: readonly JobEvent[], type: Type) =>
  events.flatMap(({ body }) => (body.type === type ? [body as Extract<EventBody, { type: Type }>] : []));

const metric = 'held.non_thinking.loss';
const repair = () => ({
  ...sampled,
  lr: 5e-3,
  warmup_steps: 0,
  rollouts: 4,
  steps: 8,
  domains: [{ domain: 'math', data: (tiny.stages[1] as { data: string }).data, teacher: 'stage:sft' }],
});

/** Learns, unlearns, and has a gate after that; then a stage whose gate has nothing to say, so that its repair is the last. */
async function repaired(drop_at_most: number): Promise<Cascade> {
  const [sft, math] = tiny.stages as [{ data: string }, object];
  const conversation = {
    messages: [
      { role: 'user', content: '1,2:' },
      { role: 'assistant', content: '::::' },
    ],
  };
  const wrong = await stack.client.createDataset(
    { name: 'wrong', kind: 'sft' },
    JSON.stringify(conversation),
  );
  return {
    ...tiny,
    stages: [
      { ...sft, steps: 12, lr: 5e-3 },
      { ...sft, name: 'forget', data: wrong.id, steps: 4, batch: 4, lr: 3e-3 },
      { ...math, ...sampled, rollouts: 2, steps: 2 },
    ] as Cascade['stages'],
    evaluate: { suites: [{ name: 'held', measure: 'loss', domain: 'math', data: sft.data }] as never },
    gates: [
      {
        after: 'forget',
        require: { metric, drop_at_most, since: 'sft' },
        otherwise: 'distill',
        repair: repair(),
      },
      { after: 'math', require: { metric, at_least: 100 }, otherwise: 'distill', repair: repair() },
    ] as Cascade['gates'],
    checkpoints: { every_steps: 3 },
  };
}

test.skipIf(process.platform !== 'linux')(
  'a gate repairs, pauses where that is not enough, goes on where it is, and leaves the repair out where nothing is to be mended (needs /proc)',
  async () => {
    const { client } = stack;
    const { id } = await client.createJob(await repaired(0));
    let killed = false;
    const paused: JobEvent[] = [];
    const follow = followToEnd(client, id, (event) => {
      paused.push(event);
      const { body } = event;
      if (killed || body.type !== 'step' || body.stage !== 'repair-forget' || body.step < 4) return;
      const trainer = childOf(stack.pid('runner'), 'runner/trainer.ts');
      if (trainer !== undefined) killed = process.kill(trainer, 'SIGKILL');
    });
    await until(async () => (await client.job(id)).state === 'paused', 'the gate pauses the job', 60_000);
    expect(killed).toBe(true);
    expect(await client.job(id)).toMatchObject({
      reason: 'gate_failed',
      message: expect.stringMatching(/^gate 0 after repair-forget: .*The repair was not enough/) as unknown,
    });
    expect(await lastCheckpoint(client, id)).toMatchObject({ stage: 'repair-forget', kind: 'stage_end' });
    await client.resumeJob(id);
    const events = await follow;
    expect(await client.job(id)).toMatchObject({ state: 'succeeded', reason: null });
    const looks = ofType(events, 'gate');
    expect(looks.map(({ gate, after, result }) => `${gate} ${after} ${result}`)).toEqual([
      ...['0 forget fired', '0 repair-forget fired', '0 repair-forget passed', '1 math held'],
    ]);
    expect(ofType(events, 'stage_skipped')).toMatchObject([{ stage: 'repair-math', stage_index: 4 }]);
    expect(await lastCheckpoint(client, id)).toMatchObject({ stage: 'math', step: 2, kind: 'stage_end' });

    const [before, after] = looks;
    expect(after!.low).toBeLessThan(before!.low);
    const enough = (await client.createJob(await repaired((before!.low + after!.low) / 2))).id;
    const mended = await followToEnd(client, enough);
    expect(await client.job(enough)).toMatchObject({ state: 'succeeded' });
    expect(ofType(mended, 'gate').map(({ gate, after, result }) => `${gate} ${after} ${result}`)).toEqual([
      ...['0 forget fired', '0 repair-forget held', '1 math held'],
    ]);
    expect(weightsOf(await lastCheckpoint(client, enough))).toBe(weightsOf(await lastCheckpoint(client, id)));
  },
  limitMs,
);
