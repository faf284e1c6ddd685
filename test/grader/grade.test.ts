// What the grader process makes of verifiers: results in order, each fault where it belongs. The example of the documentation is graded.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gradeRequest } from '../../api/contract/grade.ts';
import type { MathRow, Task } from '../../api/contract/task.ts';
import { gradeItems } from '../../runner/grader/grade.ts';
import { inOrder } from '../../runner/grader/in-order.ts';
import { findAbilities, openGraders } from '../../runner/grader/open-graders.ts';
import { GoldUnscored, validateGold } from '../../runner/grader/validate.ts';
import type { Reward } from '../../runner/rewards/reward.ts';
import { guarded } from '../../runner/rewards/grade.ts';
import { invalid, scored, unscored } from '../../runner/rewards/reward.ts';
import type { Verifier } from '../../runner/rewards/verifier.ts';

/** Does what the response says; a row's answer is its gold, and `none` is no gold. */
function scripted(scripts: Record<string, () => Reward | Promise<Reward>>): Verifier<Task> {
  const verifier: Verifier<MathRow> = {
    grade: async (_task, response) => await scripts[response]!(),
    maxScore: ({ answer }) => (answer === 'worthless' ? 0 : 1),
    goldResponse: ({ answer }) => {
      if (answer === 'beyond') throw new Error('no such instruction');
      return answer === 'none' ? undefined : answer;
    },
  };
  return guarded(verifier as Verifier<Task>);
}

let graded = 0;
const count = (): void => void graded++;

test('results are in the order of their items, however long each takes, and few are worked on at a time', async () => {
  const releases: (() => void)[] = [];
  let open = 0;
  let most = 0;
  const results = inOrder([0, 1, 2, 3, 4], 2, async (item) => {
    most = Math.max(most, ++open);
    await new Promise<void>((release) => releases.push(release));
    open--;
    return item;
  });
  const collected = (async () => {
    const all: number[] = [];
    for await (const result of results) all.push(result);
    return all;
  })();
  while (releases.length < 2) await new Promise(setImmediate);
  releases
    .splice(0)
    .reverse()
    .forEach((release) => release());
  const done = { yes: false };
  void collected.then(() => (done.yes = true));
  while (!done.yes) {
    await new Promise(setImmediate);
    releases.splice(0).forEach((release) => release());
  }
  expect([await collected, most]).toEqual([[0, 1, 2, 3, 4], 2]);
});

describe('answers', () => {
  const items = (...responses: string[]) =>
    responses.map((response) => ({ task: { prompt: 'p', answer: '1' }, response }));

  test('what goes wrong with one is its result alone', async () => {
    graded = 0;
    const verifier = scripted({
      good: () => scored(1, { part: 0.5 }, 'd'),
      long: () => invalid('unparsable', -1, 'x'.repeat(5_000)),
      down: () => unscored('sandbox_down'),
      throws: () => {
        throw new Error('a bug');
      },
      nan: () => scored(NaN),
      parts: () => scored(1, { a: Infinity }),
    });
    const names = ['good', 'long', 'down', 'throws', 'nan', 'parts', 'good'];
    const results = await gradeItems(verifier, { type: 'math' }, items(...names), count);
    const ours = { status: 'unscored', code: 'verifier_down', detail: expect.stringMatching(/./) as string };
    expect(results).toEqual([
      { index: 0, status: 'scored', value: 1, parts: { part: 0.5 }, detail: 'd' },
      { index: 1, status: 'invalid', value: -1, code: 'unparsable', detail: 'x'.repeat(1_000) },
      { index: 2, status: 'unscored', code: 'sandbox_down' },
      { index: 3, ...ours, detail: 'the verifier failed: a bug' },
      { index: 4, ...ours },
      { index: 5, ...ours },
      { index: 6, status: 'scored', value: 1, parts: { part: 0.5 }, detail: 'd' },
    ]);
    expect(graded).toBe(7);
  });

  test('the example of the documentation is graded as it says', async () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/graders/README.md'), 'utf8');
    const asked: unknown = JSON.parse(/-d '(\{[^']*\})'/.exec(page)?.[1] ?? '');
    const answered = JSON.parse(/```json\n([^`]*)```/.exec(page)?.[1] ?? '') as unknown;
    const { grader, items: given } = gradeRequest.parse(asked);
    const graders = openGraders();
    try {
      const results = await gradeItems(await graders.verifier(grader), grader, given, count);
      expect({ results }).toEqual(answered);
    } finally {
      await graders.close();
    }
  });
});

describe('gold', () => {
  let dir: string;
  beforeAll(async () => (dir = await mkdtemp(join(tmpdir(), 'millrace-test-gold-'))));
  afterAll(() => rm(dir, { recursive: true }));

  async function validate(verifier: Verifier<Task>, answers: readonly string[]) {
    const file = join(dir, 'rows.jsonl');
    await writeFile(file, answers.map((answer) => `${JSON.stringify({ prompt: 'p', answer })}\n`).join(''));
    return await validateGold(verifier, 'math', file, count);
  }

  test('each row is broken, unproven, worthless or right', async () => {
    const verifier = scripted({
      right: () => scored(1),
      low: () => scored(0.5, {}, 'test 3 fails'),
      bad: () => invalid('timeout'),
      worthless: () => scored(0),
    });
    const answers = ['right', 'low', 'none', 'bad', 'worthless', 'beyond'];
    expect(await validate(verifier, answers)).toEqual({
      broken: 3,
      issues: [
        { row: 1, pointer: '', message: 'the gold "low" gets 0.5 of 1: test 3 fails' },
        { row: 3, pointer: '', message: 'the gold "bad" is invalid (timeout)' },
        { row: 5, pointer: '', message: 'the row cannot be graded: no such instruction' },
      ],
      unproven: 1,
      zero_maximum: { count: 1, rows: [4] },
    });
  });

  test('a hundred broken rows are named, all are counted', async () => {
    const verifier = scripted({ low: () => scored(0) });
    const report = await validate(
      verifier,
      Array.from({ length: 300 }, () => 'low'),
    );
    expect([report.broken, report.issues.length, report.issues.at(-1)?.row]).toEqual([300, 100, 99]);
  });

  test('what is our fault says nothing of the rows: once is tried again, twice is told', async () => {
    let calls = 0;
    const once = scripted({ flaky: () => (calls++ === 0 ? unscored('sandbox_down') : scored(1)) });
    expect((await validate(once, ['flaky'])).broken).toBe(0);
    const down = scripted({ right: () => scored(1), flaky: () => unscored('sandbox_down', 'no bubblewrap') });
    const told = validate(down, ['right', 'flaky', 'right']);
    await expect(told).rejects.toThrow(GoldUnscored);
    await expect(told).rejects.toThrow('row 1 cannot be graded now (sandbox_down): no bubblewrap');
  });
});

test('each language of code can be run, or there is a reason', async () => {
  const { languages, missing } = await findAbilities();
  expect([...languages, ...Object.keys(missing)].toSorted()).toEqual(['javascript', 'python', 'typescript']);
});
