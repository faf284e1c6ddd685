// Events of a job as OpenAI's API tells of them: each of ours is one of theirs, in words, with ours as its data.
import type { EventRow } from '../../db/schema.ts';
import type { EventBody } from '../contract/event.ts';
import type { FineTuningEvent } from '../contract/fine-tuning.ts';
import { secondsOf } from '../files/view.ts';

export const eventIdOf = (job: string, seq: number): string => `ftevent-${job.replace(/^job_/, '')}-${seq}`;

/** The number that an id of an event of this job holds; undefined for one of another job. */
export function seqOf(job: string, eventId: string): number | undefined {
  const prefix = eventIdOf(job, 0).slice(0, -1);
  return eventId.startsWith(prefix) ? Number(eventId.slice(prefix.length)) : undefined;
}

export function fineTuningEventView({ jobId, seq, createdAt, body }: EventRow): FineTuningEvent {
  return {
    id: eventIdOf(jobId, seq),
    object: 'fine_tuning.job.event',
    created_at: secondsOf(createdAt),
    level: levelOf(body),
    message: messageOf(body, jobId),
    type: body.type === 'step' ? 'metrics' : 'message',
    data: body.type === 'step' ? metricsOf(body) : body,
  };
}

type Step = Extract<EventBody, { type: 'step' }>;

/** Ours, and the loss and the reward by the names that their clients draw. */
export function metricsOf({ step, metrics }: Pick<Step, 'step' | 'metrics'>): Record<string, number | null> {
  const { loss, reward, ...others } = metrics;
  return {
    step,
    ...(loss === undefined ? {} : { train_loss: loss }),
    ...(reward === undefined ? {} : { train_reward: reward }),
    ...others,
  };
}

function levelOf(body: EventBody): FineTuningEvent['level'] {
  if (body.type === 'state') return body.to === 'failed' ? 'error' : 'info';
  const worrying = ['attempt_failed', 'step_skipped', 'reward_waiting', 'resume_inexact', 'data_overlap'];
  return worrying.includes(body.type) ? 'warn' : 'info';
}

function messageOf(body: EventBody, job: string): string {
  switch (body.type) {
    case 'state':
      return stateMessage(body, job);
    case 'attempt_started':
      return 'Fine-tuning job started';
    case 'attempt_failed':
      return `An attempt failed: ${body.reason}: ${body.message}`;
    case 'checkpoint':
      return `Checkpoint created at step ${body.step}: ${body.checkpoint}`;
    case 'step':
      return `Step ${body.step}: ${lossOf(body)}`;
    case 'step_skipped':
      return `Step ${body.step} skipped: ${body.cause}`;
    case 'evaluation':
      return `Evaluated after ${body.after}: ${body.cells.map(({ suite, metric, value }) => `${suite} ${metric} ${value.toPrecision(4)}`).join(', ')}`;
    default:
      return body.type.replaceAll('_', ' ');
  }
}

const lossOf = ({ metrics }: Step): string =>
  (['loss', 'reward'] as const)
    .flatMap((key) =>
      typeof metrics[key] === 'number' ? [`training ${key}=${metrics[key].toPrecision(4)}`] : [],
    )
    .join(', ');

function stateMessage(
  { from, to, reason, message }: Extract<EventBody, { type: 'state' }>,
  job: string,
): string {
  if (from === null) return `Created fine-tuning job: ${job}`;
  if (to === 'succeeded') return 'The job has successfully completed';
  const why = [reason, message].filter((part) => (part ?? null) !== null).join(': ');
  return `The job is ${to}${why === '' ? '' : `: ${why}`}`;
}
