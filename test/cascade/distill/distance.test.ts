// How far teachers are at first: of every domain once, and nothing where the policy's own log-probabilities are no numbers.
import { expect, it } from 'vitest';
import type { Entry } from '../../../api/contract/event.ts';
import { measureDistances, TeacherTooFar } from '../../../runner/cascade/distill/distance.ts';
import type { DistilledRollout } from '../../../runner/cascade/distill/teacher-batch.ts';
import type { DistillStepOptions } from '../../../runner/cascade/distill/options.ts';

function measuring(otherwise: 'warn' | 'fail') {
  const entries: Entry[] = [];
  const measured = new Set<string>();
  const options = {
    stage: { name: 'distill', distance: { at_most: 0.15, otherwise } },
    teachers: ['math', 'code'].map((domain) => ({ domain, teacher: `/models/${domain}`, score: null })),
    host: { emit: (entry: Entry) => void entries.push(entry) },
    measured,
  } as unknown as DistillStepOptions;
  return { options, measured, distances: () => entries.map((entry) => ('kl' in entry ? entry.kl : entry)) };
}

const distilled = (domain: string, policy: number[], teacher: number[]): DistilledRollout =>
  ({
    source: { domain },
    policyLogProbs_T: Float32Array.from(policy),
    teacherLogProbs_T: Float32Array.from(teacher),
  }) as unknown as DistilledRollout;

it('tells of every domain when it first has answers, and never again', () => {
  const { options, distances } = measuring('warn');
  measureDistances(options, [distilled('math', [-1, -2], [-1.5, -2])]);
  measureDistances(options, [distilled('math', [-1], [-9]), distilled('code', [-1], [-3])]);
  expect(distances()).toEqual([0.25, 2]);
});

it('leaves a policy that is no number to the update, which says that it has diverged', () => {
  const { options, measured, distances } = measuring('fail');
  const lost = distilled('math', [NaN, -1], [-1, -1]);
  expect(() => measureDistances(options, [lost])).not.toThrow();
  expect([distances(), [...measured]]).toEqual([[], []]);
  const far = [lost, distilled('code', [-1], [-3])];
  expect(() => measureDistances(options, far)).toThrow(TeacherTooFar);
  expect(distances()).toEqual([2]);
});
