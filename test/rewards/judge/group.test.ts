// The judge of groups: which matches are held, what a verdict is worth to both sides, and what becomes of answers and judges that
// fail. The judge is a real server that reads the answers it is asked about.
import { describe, expect, test } from 'vitest';
import type { GraderOf } from '../../../api/contract/grader.ts';
import { grader as graderSchema } from '../../../api/contract/grader.ts';
import { issuesOf } from '../../../api/contract/issues.ts';
import { suite } from '../../../api/contract/suite.ts';
import { gradeGroups } from '../../../runner/cascade/grading.ts';
import { guarded } from '../../../runner/rewards/grade.ts';
import { judgeAt } from '../../../runner/rewards/judge/ask.ts';
import { matchesOf, matchScores } from '../../../runner/rewards/judge/group.ts';
import { judgeVerifier } from '../../../runner/rewards/judge/judge.ts';
import { comparison } from '../../../runner/rewards/judge/verdict.ts';
import { Outgoing } from '../../../api/outgoing.ts';
import { noOutage } from '../../support/tiny-policy.ts';
import type { Answer, Received } from '../http-service.ts';
import { json, useHttpService } from '../http-service.ts';

const service = useHttpService();
const outgoing = new Outgoing({ allowPrivate: true });
const task = { prompt: 'Say hello', chosen: 'Hello!', rejected: 'Go away' };

const fields = { type: 'judge', model: 'judge-1', prompt: 'group', retries: 0 };

function verifierOf(changes: Partial<GraderOf<'judge'>> = {}) {
  const parsed = graderSchema.parse({ ...fields, url: `${service.url}/v1`, ...changes }) as GraderOf<'judge'>;
  return guarded(judgeVerifier(parsed, judgeAt(parsed, { outgoing, wait: async () => undefined })));
}

const says = (content: string): Answer =>
  json({ choices: [{ index: 0, message: { role: 'assistant', content } }] });

/** What is answered depends on what is asked. */
const choosing =
  (answerTo: (request: Received) => Answer): Answer =>
  (request, response, count) =>
    answerTo(request)(request, response, count);

/** The two answers in the order in which the judge is asked about them. */
function askedAbout({ body }: Received): [string, string] {
  const text = (JSON.parse(body) as { messages: { content: string }[] }).messages[1]!.content;
  const of = (place: string): string =>
    new RegExp(`<<<${place} \\w+>>>\\n([\\s\\S]*?)\\n<<<end of ${place}`).exec(text)![1]!;
  return [of('first'), of('second')];
}

describe('matches', () => {
  test('of all pairs: each once, every answer about as often first as second', () => {
    const matches = matchesOf('all', 4);
    expect(matches.map((match) => [...match].sort().join(''))).toEqual(['01', '02', '03', '12', '13', '23']);
    const firsts = [0, 1, 2, 3].map((i) => matches.filter(([first]) => first === i).length);
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeLessThanOrEqual(1);
    expect(matchesOf('all', 16)).toHaveLength(120);
  });

  test('of a ring: each with the next, in both orders; two answers are one pair', () => {
    expect(matchesOf('ring', 3)).toEqual([
      ...[
        [0, 1],
        [1, 0],
      ],
      ...[
        [1, 2],
        [2, 1],
      ],
      ...[
        [2, 0],
        [0, 2],
      ],
    ]);
    expect(matchesOf('ring', 2)).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });
});

test('a verdict is each side’s helpfulness; where both are alike, the ranking parts them around 3.5', () => {
  expect(matchScores({ helpfulness: [4, 3], ranking: 6 })).toEqual([
    { helpfulness: 4, tieBreak: 0 },
    { helpfulness: 3, tieBreak: -0 },
  ]);
  // s_i += 3.5 - 1, s_j += 1 - 3.5.
  expect(matchScores({ helpfulness: [3, 3], ranking: 1 })).toEqual([
    { helpfulness: 3, tieBreak: 2.5 },
    { helpfulness: 3, tieBreak: -2.5 },
  ]);
});

test.each([
  ['[[A: 4, B: 3, ranking: 2]]', { helpfulness: [4, 3], ranking: 2 }],
  [
    '<think>[[A: 1, B: 1, ranking: 1]]</think>\nB is better.\n[[a:2,b:5,ranking:6]]',
    { helpfulness: [2, 5], ranking: 6 },
  ],
  ['[[A: 4, B: 3, ranking: 7]]', undefined],
  ['[[A: 0, B: 3, ranking: 2]]', undefined],
  ['<think>[[A: 4, B: 3, ranking: 2]]', undefined],
  ['A is better', undefined],
])('a judge that says %j', (content, expected) => {
  expect(comparison({ message: { content } })).toEqual(expected);
});

describe('a group', () => {
  const gradeAll = (responses: readonly string[], changes: Partial<GraderOf<'judge'>> = {}) => {
    const group = verifierOf(changes).group!(task, responses.length);
    return Promise.all(responses.map((response, g) => group.grade(g, response)));
  };

  test('gets the mean over its matches, the thinking left out', async () => {
    // Helpfulness is the length of the answer; of two alike the first is far better.
    service.answer = choosing((request) => {
      const [a, b] = askedAbout(request).map((text) => text.length) as [number, number];
      return says(`[[A: ${a}, B: ${b}, ranking: 1]]`);
    });
    const rewards = await gradeAll(['xx', '<think>at length</think>\n\nxxxx', 'yy']);
    // Matches: (0,1), (2,0), (1,2). 0 and 2 are alike, and 2 stands first: +2.5 for it, -2.5 for 0.
    expect(rewards).toEqual([
      { status: 'scored', value: 0.75, parts: { helpfulness: 2, tie_break: -1.25 } },
      { status: 'scored', value: 4, parts: { helpfulness: 4, tie_break: 0 } },
      { status: 'scored', value: 3.25, parts: { helpfulness: 2, tie_break: 1.25 } },
    ]);
    expect(service.received.map(askedAbout)).toHaveLength(3);
  });

  test('in a ring a judge that loves a place gives all the same', async () => {
    service.answer = says('[[A: 3, B: 3, ranking: 1]]');
    const rewards = await gradeAll(['a', 'b', 'c', 'd'], { pairs: 'ring' });
    expect(service.received).toHaveLength(8);
    expect(rewards.map((reward) => reward.status === 'scored' && reward.value)).toEqual([3, 3, 3, 3]);
  });

  test('is asked about before it is whole: a match needs its own two', async () => {
    service.answer = says('[[A: 5, B: 1, ranking: 1]]');
    const group = verifierOf().group!(task, 3);
    const first = group.grade(0, 'a');
    const second = group.grade(1, 'b');
    await expect.poll(() => service.received.length).toBe(1);
    const third = group.grade(2, 'c');
    expect((await Promise.all([first, second, third])).map(({ status }) => status)).toEqual([
      ...['scored', 'scored', 'scored'],
    ]);
  });

  test('of a judge that is away is unscored, and asked about again it holds only the matches that failed', async () => {
    let down = true;
    service.answer = choosing((request) =>
      down && askedAbout(request).includes('c') ? json({}, 500) : says('[[A: 4, B: 2, ranking: 2]]'),
    );
    const group = verifierOf().group!(task, 3);
    const all = ['a', 'b', 'c'];
    const rewards = await Promise.all(all.map((response, g) => group.grade(g, response)));
    expect(rewards.map((reward) => reward.status === 'unscored' && reward.code)).toEqual([
      ...['unreachable', 'unreachable', 'unreachable'],
    ]);
    down = false;
    const before = service.received.length;
    const again = await Promise.all(all.map((response, g) => group.grade(g, response)));
    expect(again.map(({ status }) => status)).toEqual(['scored', 'scored', 'scored']);
    expect(service.received.length - before).toBe(2);
  });

  test('with an answer that the judge does not take counts it as least helpful, and the others among themselves', async () => {
    service.answer = choosing((request) =>
      askedAbout(request).some((text) => text.length > 100)
        ? json({}, 413)
        : says('[[A: 4, B: 2, ranking: 2]]'),
    );
    const rewards = await gradeAll(['a', 'x'.repeat(200), 'c']);
    expect(rewards[1]).toMatchObject({ status: 'invalid', code: 'unparsable', value: 1 });
    // The one match between 0 and 2, in which 2 stands first.
    expect(rewards[0]).toMatchObject({ status: 'scored', value: 2 });
    expect(rewards[2]).toMatchObject({ status: 'scored', value: 4 });
  });

  test('of a judge that takes nothing at all is unscored', async () => {
    service.answer = json({}, 400);
    expect((await gradeAll(['a', 'b'])).map(({ status }) => status)).toEqual(['unscored', 'unscored']);
  });

  test('is graded as a batch’s, and one answer by itself is worth nothing', async () => {
    service.answer = choosing((request) => {
      const [a, b] = askedAbout(request).map((text) => text.length) as [number, number];
      return says(`[[A: ${a}, B: ${b}, ranking: 3]]`);
    });
    const rolloutOf = (text: string) => ({
      ...{ prompt: Int32Array.of(1), response: Int32Array.of(2), logProbs: new Float32Array(1) },
      ...{ truncated: false, text },
    });
    const place = { stage: 'rlhf', step: 1, suite: null };
    const groups = [['x', 'xx'].map(rolloutOf), ['xxx', 'xxxxx'].map(rolloutOf)];
    const graded = await gradeGroups(verifierOf(), [task, task], groups, place, noOutage);
    expect(graded.map((group) => group.map(({ reward }) => reward))).toEqual([
      [1, 2],
      [3, 5],
    ]);
    expect(service.received).toHaveLength(2);
    expect(await verifierOf().grade(task, 'x')).toMatchObject({ status: 'unscored', code: 'verifier_down' });
  });
});

test('pairs go with prompt group alone, and suites take no such judge', () => {
  const given = { ...fields, url: 'https://example.com/v1' };
  expect(graderSchema.safeParse({ ...given, pairs: 'ring' }).success).toBe(true);
  const wrong = graderSchema.safeParse({ ...given, prompt: 'yes_no', pairs: 'ring' });
  expect(issuesOf(wrong.error!).map(({ pointer }) => pointer)).toEqual(['/pairs']);
  const inSuite = suite.safeParse({ name: 'a', data: 'rows', grader: given });
  expect(issuesOf(inSuite.error!).map(({ pointer }) => pointer)).toEqual(['/grader/prompt']);
});
