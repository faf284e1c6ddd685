// Gold before the first step: broken rows are named, and a grader that is away is waited for, as in a stage. The clock is the
// test's, the service a real one.
import { expect, test } from 'vitest';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import type { Entry } from '../../api/contract/event.ts';
import type { Grader } from '../../api/contract/grader.ts';
import { grader as graderSchema } from '../../api/contract/grader.ts';
import type { MathRow } from '../../api/contract/task.ts';
import { RewardUnavailable } from '../../runner/cascade/outage.ts';
import type { OutagePolicy } from '../../runner/cascade/outage.ts';
import { DataError } from '../../runner/data/error.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { checkGold } from '../../runner/trainer/check-gold.ts';
import { json, useHttpService } from '../rewards/http-service.ts';
import { tinyDistillSpec } from '../support/tiny-distill.ts';
import { tinyData, tinyDatasets, tinyRows, tinySpec } from '../support/tiny-policy.ts';

const service = useHttpService();

/** 1 for every answer, 0 for "0", but 503 while `isDown(seconds)`. */
function check(
  isDown: (seconds: number) => boolean,
  rows: readonly MathRow[] = tinyRows.test,
  provenBy: Grader | null = null,
  more: readonly ExpandedStage[] = [],
) {
  let ms = 0;
  let graded = 0;
  const entries: Entry[] = [];
  service.answer = (request, response, count) => {
    const { items } = JSON.parse(request.body) as { items: { response: string }[] };
    const results = items.map((item) => ({ status: 'scored', value: item.response === '0' ? 0 : 1 }));
    return json({ results }, isDown(ms / 1000) ? 503 : 200)(request, response, count);
  };
  const spec = tinySpec({ math: { grader: { type: 'remote', url: service.url, retries: 0, batch: 8 } } });
  const policy: OutagePolicy = {
    rewards: { unscored_at_most: 0.9, timeout: '30m', otherwise: 'pause' },
    clock: { now: () => ms, wait: async (wait) => void (ms += wait) },
    emit: (entry) => void entries.push(entry),
    alive: () => void graded++,
  };
  const data = { ...tinyDatasets, tasks: (id: string) => (id === tinyData.math ? rows : tinyRows.test) };
  const means = createMeans({ env: { MILLRACE_ALLOW_PRIVATE_ADDRESSES: '1' } });
  const dataset = { id: tinyData.math, kind: 'math' as const, key: 'k', size: 1, sha256: 'a'.repeat(64) };
  const claimed = {
    spec: { ...spec, stages: [...spec.stages, ...more], evaluate: { ...spec.evaluate, suites: [] } },
    datasets: [{ ...dataset, proven_by: provenBy }],
  };
  const checked = checkGold(claimed, data, means, policy);
  return { checked, entries, seconds: () => ms / 1000, graded: () => graded };
}

const right: MathRow[] = ['1', '2', '3'].map((answer) => ({ prompt: 'p', answer }));
const broken: MathRow[] = [...right, { prompt: 'p', answer: '0' }];
const place = { stage: 'math', step: null, suite: null };

test('gold that reaches the maximum passes; each answer is a sign of life', async () => {
  const run = check(() => false, right);
  await run.checked;
  expect([run.graded(), run.entries]).toEqual([3, []]);
});

test('gold that does not is named', async () => {
  const run = check(() => false, broken);
  await expect(run.checked).rejects.toThrow(DataError);
  await expect(run.checked).rejects.toThrow(/^stage math, .* in 1 of 4 rows .* rows 3 \(gold "0"\);/);
});

test('gold that the same grader has proven at registration is not proven again; another grader’s proof is none', async () => {
  const grader = { type: 'remote', url: service.url, retries: 0, batch: 8 };
  const same = check(() => false, broken, graderSchema.parse(grader));
  await same.checked;
  expect(same.graded()).toBe(0);
  await expect(check(() => false, broken, { type: 'math' }).checked).rejects.toThrow(/rows 3 /);
  const other = graderSchema.parse({ ...grader, max_score: 2 });
  await expect(check(() => false, broken, other).checked).rejects.toThrow(/rows 3 /);
});

test('gold of a domain that distils with rewards is looked at too; what a stage before it has proven is not asked again', async () => {
  const given = { type: 'remote', url: service.url, retries: 0, batch: 8 };
  const domains = [
    { domain: 'math', grader: graderSchema.parse(given) },
    { domain: 'code', data: tinyData.test, grader: graderSchema.parse({ type: 'math' }) },
  ];
  const rewarded = { objective: { type: 'policy_gradient', reward_weight: 1 } };
  const { stages } = tinyDistillSpec({ distill: rewarded, domains });
  const distills = stages.filter(({ kind }) => kind === 'distill');
  const run = check(() => false, right, null, distills);
  await run.checked;
  expect(run.graded()).toBe(right.length + tinyRows.test.length);
  const other = [{ domain: 'code', grader: graderSchema.parse({ ...given, batch: 4 }) }];
  const wrong = tinyDistillSpec({ distill: rewarded, domains: other }).stages.slice(-1);
  // Of the stage before it the gold is proven.
  const proven = check(() => false, broken, graderSchema.parse(given), wrong);
  await expect(proven.checked).rejects.toThrow(/^stage distill, domain code, .* rows 3 \(gold "0"\);/);
});

test('a grader that is away for a minute is waited for, and decides then', async () => {
  const run = check((seconds) => seconds < 60, broken);
  await expect(run.checked).rejects.toThrow(/rows 3 \(gold "0"\);/);
  expect(run.entries).toEqual([
    {
      ...{ type: 'reward_waiting', ...place, unscored: 4, of: 4, code: 'unreachable' },
      detail: expect.stringContaining('answered 503') as string,
    },
    { type: 'reward_resumed', ...place, waited_s: run.seconds() },
  ]);
});

test('one that stays away ends the run after the limit, not at once and not as bad data', async () => {
  const run = check(() => true, right);
  await expect(run.checked).rejects.toThrow(RewardUnavailable);
  await expect(run.checked).rejects.toThrow(/^stage math, gold: for 30m .* 3 of 3 answers: unreachable/);
  expect(run.seconds()).toBe(1_800);
});
