// The objects that an attempt may name: its own, under jobs/{job}/a{attempt}/. A runner's token reads nothing through
// us but what its own attempt wrote, and overwrites nothing of another attempt.
import type { z } from 'zod';
import { keyProblem } from '../../store/keys.ts';
import type { Issue } from '../contract/issues.ts';
import type { ReportRequest, checkpointRequest } from '../contract/runner.ts';
import { inWords, ProblemError } from '../problem.ts';

type CheckpointRequest = z.infer<typeof checkpointRequest>;

export const attemptPrefix = (job: string, attempt: number): string => `jobs/${job}/a${attempt}/`;

/** @throws ProblemError invalid_spec. */
export function checkReportKeys({ job, attempt, entries }: ReportRequest): void {
  const prefix = attemptPrefix(job, attempt);
  const issues = entries.flatMap((entry, index) =>
    entry.type === 'samples' ? issueOf(`/entries/${index}/key`, entry.key, prefix) : [],
  );
  refuse(issues);
}

/** @throws ProblemError invalid_spec. */
export function checkCheckpointKeys({ job, attempt, checkpoint }: CheckpointRequest): void {
  const pointer = '/checkpoint/prefix';
  const issues = issueOf(pointer, `${checkpoint.prefix}x`, attemptPrefix(job, attempt));
  refuse(checkpoint.prefix.endsWith('/') ? issues : [...issues, { pointer, message: 'must end with /' }]);
}

function issueOf(pointer: string, key: string, prefix: string): Issue[] {
  if (!key.startsWith(prefix)) return [{ pointer, message: `must begin with ${prefix}` }];
  const problem = keyProblem(key);
  return problem === undefined ? [] : [{ pointer, message: problem }];
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ProblemError('invalid_spec', inWords(issues), { issues });
}
