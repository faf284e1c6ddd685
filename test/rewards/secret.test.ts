import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { grader as graderSchema } from '../../api/contract/grader.ts';
import { secretReference } from '../../api/contract/outgoing.ts';
import { createGrader } from '../../runner/rewards/grade.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { MissingSecret, resolveSecret } from '../../runner/rewards/secret.ts';
import { withoutSecrets } from '../../runner/supervisor/trainer-process.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-test-secrets-'));
const inside = join(directory, 'secrets');
mkdirSync(inside);
writeFileSync(join(inside, 'judge'), 'from a file\n');
writeFileSync(join(inside, 'both'), 'file');
writeFileSync(join(inside, 'empty'), '\n');
writeFileSync(join(directory, 'outside'), 'not to be had');
afterAll(() => rmSync(directory, { recursive: true }));
const env = {
  MILLRACE_SECRET_MY_KEY: 'from a variable',
  MILLRACE_SECRET_BOTH: 'variable',
  MILLRACE_SECRETS_DIR: inside,
};

test.each([
  ['secret:my-key', 'from a variable'],
  ['secret:MY_KEY', 'from a variable'],
  ['secret:judge', 'from a file'],
  ['secret:both', 'variable'],
])('%s', (reference, value) => expect(resolveSecret(reference, env)).toBe(value));

test.each(['secret:none', 'secret:empty', 'secret:../outside', 'secret:', 'secret:.'])(
  'missing: %s',
  (reference) => {
    expect(() => resolveSecret(reference, env)).toThrow(MissingSecret);
  },
);

test('a missing one is named with how to give it, and fails the attempt as invalid data', () => {
  const posted = { type: 'remote', url: 'https://grader.example.com/', secret: 'secret:my-other' };
  const grader = graderSchema.parse(posted);
  let error: unknown;
  try {
    createGrader(grader, createMeans({ env }));
  } catch (thrown) {
    error = thrown;
  }
  expect(failedOutcome(error)).toMatchObject({
    reason: 'invalid_data',
    message: expect.stringMatching(
      /^secret:my-other: .*MILLRACE_SECRET_MY_OTHER.*MILLRACE_SECRETS_DIR/,
    ) as string,
  });
});

test.each([
  'judge',
  'secret:',
  'secret:a b',
  'secret:a/b',
  'secret:../a',
  'secret:-a',
  `secret:${'a'.repeat(64)}`,
])('no reference: %s', (text) => expect(secretReference.safeParse(text).success).toBe(false));

test('trainers get these secrets, and still none of the runner’s own', () => {
  const all = {
    ...env,
    MILLRACE_RUNNER_TOKEN: 't',
    MILLRACE_KEY: 'k',
    S3_SECRET_ACCESS_KEY: 's',
    PATH: '/bin',
  };
  expect(withoutSecrets(all)).toEqual({ ...env, PATH: '/bin' });
});
