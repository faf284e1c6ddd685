// The words that a watcher prints: the live line, and the lines that stay. Pure.
import type { JobEvent } from '../../api/contract/event.ts';
import { bar, clock, rate } from '../format.ts';
import type { StageView, View } from './view.ts';

const barWidth = 20;

/** `math (stage 2)  [####....] 120/300  reward 0.412  8.1k tokens/s  2:10 left` */
export function statusLine(view: View): string {
  if (view.stage === null)
    return view.state === 'running' ? 'running: the model is being prepared' : view.state;
  const { name, number, step, steps } = view.stage;
  return [
    `${name} (stage ${number})`,
    `${bar(step / Math.max(1, steps), barWidth)} ${step}/${steps}`,
    ...measures(view.stage),
  ].join('  ');
}

/** The same as a line that stays. */
export function stepLine({ name, step, steps, ...stage }: StageView): string {
  return [`${name}: step ${step}/${steps}`, ...measures(stage)].join(', ');
}

function measures({
  reward,
  loss,
  tokensPerSecond,
  secondsLeft,
}: Pick<StageView, 'reward' | 'loss' | 'tokensPerSecond' | 'secondsLeft'>): string[] {
  return [
    ...(reward === null ? [] : [`reward ${reward.toFixed(3)}`]),
    ...(loss === null ? [] : [`loss ${loss.toFixed(4)}`]),
    ...(tokensPerSecond === null ? [] : [`${rate(tokensPerSecond)} tokens/s`]),
    ...(secondsLeft === null ? [] : [`${clock(secondsLeft)} left`]),
  ];
}

/** What an event says beyond the live line; undefined for those that only move it. */
export function eventLine({ body, attempt }: JobEvent): string | undefined {
  switch (body.type) {
    case 'state':
      // Why was said when the attempt failed, and is said again at the end.
      return `job ${body.to}`;
    case 'attempt_started':
      return `attempt ${attempt} on ${body.runner}${body.resumed_from === null ? '' : `, resumed from ${body.resumed_from}`}`;
    case 'attempt_failed':
      return `attempt ${attempt} failed${because(body.reason, body.message, body.retry_at === null ? '' : ', it will be tried again')}`;
    case 'stage_started':
      return `stage ${body.stage_index + 1}, ${body.stage}: ${body.steps} steps`;
    case 'stage_finished':
      return `${body.stage} finished`;
    case 'evaluation':
      return body.cells
        .map(({ suite, metric, value, low, high, tasks }) => {
          const interval = `${low.toFixed(3)} to ${high.toFixed(3)}`;
          return `evaluation ${afterWords(body.after)}: ${suite} ${metric} ${value.toFixed(3)} (95 %: ${interval}, ${tasks} tasks)`;
        })
        .join('\n');
    case 'checkpoint':
      return `checkpoint ${body.checkpoint} (${body.stage}, step ${body.step})`;
    case 'rewound':
      return `goes on from step ${body.to_step} of ${body.stage}`;
    case 'step_skipped':
      return `${body.stage}: step ${body.step} skipped: ${body.cause}`;
    case 'resume_inexact':
      return `the resume is not exact: ${body.differences.join('; ')}`;
    case 'computing':
      return computingLine(body);
    case 'micro_batches':
      return body.plans.map((plan) => `${body.stage}: ${planWords(plan)}`).join('\n');
    case 'step':
    case 'samples':
      return undefined;
  }
}

type Body<Type extends JobEvent['body']['type']> = Extract<JobEvent['body'], { type: Type }>;

/** `computes on webgpu (NVIDIA H200, 575.57), products of float16` */
function computingLine({ provider, device, precision, instead }: Body<'computing'>): string {
  const where = device === provider ? provider : `${provider} (${device})`;
  return `computes on ${where}, products of ${precision}${instead === null ? '' : `: ${instead}`}`;
}

/** `micro-batches of 16 x 512 tokens, activations kept, 0.42 GB` */
function planWords({
  rows,
  length,
  activations,
  attention_chunk,
  bytes,
}: Body<'micro_batches'>['plans'][number]): string {
  const attention = attention_chunk === null ? '' : `, attention by ${attention_chunk} queries`;
  return `micro-batches of ${rows} x ${length} tokens, activations ${activations}${attention}, ${(bytes / 1e9).toFixed(2)} GB`;
}

/** ` (invalid_data): …`; `then` stands before the message, which may have many lines. */
export const because = (
  reason: string | null | undefined,
  message: string | null | undefined,
  then = '',
): string => `${reason ? ` (${reason})` : ''}${then}${message ? `: ${message.trim()}` : ''}`;

export const afterWords = (after: string): string =>
  after === 'initial' ? 'before training' : `after ${after}`;
