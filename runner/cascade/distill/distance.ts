// How far the policy is from each teacher when it begins to learn from it: the mean of log(policy / teacher) over the domain's first
// rollouts. Published runs trained from 0.04 nats a token and collapsed from 0.19 (MOPD-X, arXiv 2606.30406): a teacher of another origin
// unlearns more than it teaches, however strong it is.
import type { Entry } from '../../../api/contract/event.ts';
import { klOf } from './metrics.ts';
import type { DistillStepOptions } from './options.ts';
import type { DistilledRollout } from './teacher-batch.ts';

/** The spec says that a stage whose teacher is so far away fails. */
export class TeacherTooFar extends Error {
  override readonly name = 'TeacherTooFar';
}

type Distance = Extract<Entry, { type: 'teacher_distance' }>;

/** Says it of every domain that has rollouts for the first time. Throws TeacherTooFar, before anything is updated by them. */
export function measureDistances(options: DistillStepOptions, distilled: readonly DistilledRollout[]): void {
  const { stage, teachers, measured, host } = options;
  const { at_most, otherwise } = stage.distance;
  const fired: Distance[] = [];
  for (const { domain, teacher } of teachers) {
    const own = distilled.filter(({ source }) => source.domain === domain);
    if (own.length === 0 || measured.has(domain)) continue;
    const kl = klOf(own);
    // No number: of the policy, for teachers have been looked at. The update says that it has diverged.
    if (!Number.isFinite(kl)) continue;
    measured.add(domain);
    const result = kl <= at_most ? 'held' : otherwise === 'fail' ? 'fired' : 'warned';
    const distance = {
      type: 'teacher_distance',
      stage: stage.name,
      domain,
      teacher,
      kl,
      at_most,
      result,
    } as const;
    host.emit(distance);
    if (result === 'fired') fired.push(distance);
  }
  if (fired.length > 0) throw new TeacherTooFar(fired.map(tooFar).join('; '));
}

const tooFar = ({ stage, domain, teacher, kl, at_most }: Distance): string =>
  `stage ${stage}: teacher ${teacher} of the domain ${domain} is ${kl.toFixed(4)} nats a token from the policy, more than distance.at_most ${at_most}, and nothing was learnt from it: teach with a model of the same origin, raise at_most, or let distance.otherwise be "warn"`;
