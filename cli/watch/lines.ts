// The words that a watcher prints: the live line, and the lines that stay. Pure.
import type { EvaluationCell, JobEvent } from '../../api/contract/event.ts';
import { bar, bytes, clock, rate } from '../format.ts';
import type { StageView, View } from './view.ts';

/** On a narrow terminal the bar gives way, not the time left. */
const barWidths = [20, 10, 4];

/** `math (stage 2)  [####....] 120/300  reward 0.412  8.1k tokens/s  2:10 left` */
export function statusLine(view: View, columns = Infinity): string {
  if (view.stage === null)
    return view.state === 'running' ? 'running: the model is being prepared' : view.state;
  const { name, number, step, steps } = view.stage;
  const lines = barWidths.map((width) =>
    [
      `${name} (stage ${number})`,
      `${bar(step / Math.max(1, steps), width)} ${step}/${steps}`,
      ...measures(view.stage!),
    ].join('  '),
  );
  return lines.find((line) => line.length < columns) ?? lines.at(-1)!;
}

/** The same as a line that stays. */
export function stepLine({ name, step, steps, ...stage }: StageView): string {
  return [`${name}: step ${step}/${steps}`, ...measures(stage)].join(', ');
}

type Measures = Pick<StageView, 'reward' | 'loss' | 'kl' | 'tokensPerSecond' | 'secondsLeft'>;

function measures({ reward, loss, kl, tokensPerSecond, secondsLeft }: Measures): string[] {
  // Without rewards a KL is that to teachers, which is what such a stage brings down; its loss says nothing.
  const distance = reward === null ? kl : null;
  return [
    ...(reward === null ? [] : [`reward ${reward.toFixed(3)}`]),
    ...(distance === null ? [] : [`kl ${distance.toFixed(4)}`]),
    ...(loss === null || distance !== null ? [] : [`loss ${loss.toFixed(4)}`]),
    ...(tokensPerSecond === null ? [] : [`${rate(tokensPerSecond)} tokens/s`]),
    ...(secondsLeft === null ? [] : [`${clock(secondsLeft)} left`]),
  ];
}

/** What an event says beyond the live line; undefined for those that only move it. */
export function eventLine({ body, attempt }: JobEvent): string | undefined {
  switch (body.type) {
    case 'state':
      // Why was said when the attempt failed, and is said again at the end.
      return body.to === 'paused' ? 'job paused: "millrace resume" lets it go on' : `job ${body.to}`;
    case 'attempt_started':
      return `attempt ${attempt} on ${body.runner}${body.resumed_from === null ? '' : `, resumed from ${body.resumed_from}`}`;
    case 'attempt_failed':
      return `attempt ${attempt} failed${because(body.reason, body.message, body.retry_at === null ? '' : ', it will be tried again')}`;
    case 'stage_started':
      return `stage ${body.stage_index + 1}, ${body.stage}: ${body.steps} steps`;
    case 'stage_finished':
      return `${body.stage} finished${body.cause === null || body.cause === undefined ? '' : ` early: ${body.cause}`}`;
    case 'gate':
      return gateLine(body);
    case 'evaluation':
      return body.cells
        .map((cell) => {
          const { value, tasks } = cell;
          return `evaluation ${pointWords(body)}: ${pathOf(cell)} ${value.toFixed(3)} (95 %: ${intervalWords(cell)}, ${tasks} tasks)`;
        })
        .join('\n');
    case 'teachers':
      return `${body.stage}: learns ${body.teachers.map(teacherWords).join(', ')}`;
    case 'teacher_distance':
      return `${body.stage}: ${body.domain} is ${body.kl.toFixed(3)} nats a token from ${body.teacher}, limit ${body.at_most}: ${body.result}`;
    case 'stage_skipped':
      return `stage ${body.stage_index + 1}, ${body.stage}, skipped: ${body.cause}`;
    case 'checkpoint':
      return `checkpoint ${body.checkpoint} (${body.stage}, step ${body.step})`;
    case 'rewound':
      return `goes on from step ${body.to_step} of ${body.stage}`;
    case 'preference_pairs':
      return pairsLine(body);
    case 'data_overlap':
      return `data: ${body.rows} of ${body.of} rows of stage ${body.stage} share ${body.shares === 'prompt' ? 'their prompt' : 'nine words in a row'} with ${body.other_is} ${body.other} (row ${body.examples[0]![0]} with its row ${body.examples[0]![1]})`;
    case 'reward_waiting':
      return `${gradingPlace(body)}: waiting for rewards, ${body.unscored} of ${body.of} rollouts cannot be scored (${body.code})${body.detail === null ? '' : `: ${body.detail}`}`;
    case 'reward_resumed':
      return `${gradingPlace(body)}: rewards are back after ${body.waited_s.toFixed(0)} s`;
    case 'step_skipped':
      return `${body.stage}: step ${body.step} skipped: ${body.cause}`;
    case 'resume_inexact':
      return `the resume is not exact: ${body.differences.join('; ')}`;
    case 'computing':
      return computingLine(body);
    case 'micro_batches':
      return plansOfOneKind(body.plans)
        .map((plans) => `${body.stage}: ${planWords(plans)}`)
        .join('\n');
    case 'step':
    case 'samples':
      return undefined;
  }
}

type Body<Type extends JobEvent['body']['type']> = Extract<JobEvent['body'], { type: Type }>;

/** `math from stage:math (0.812)` */
const teacherWords = ({ domain, teacher, score }: Body<'teachers'>['teachers'][number]): string =>
  `${domain} from ${teacher}${score === null || score === undefined ? '' : ` (${score.toFixed(3)})`}`;

/** `reward_model: 95 pairs trained on, 5 held out; the chosen answer is the longer one in 40 %` */
function pairsLine({
  stage,
  trained,
  held_out,
  identical,
  identical_rows,
  chosen_longer,
}: Body<'preference_pairs'>) {
  const rows = `row${identical > 1 ? 's' : ''} ${identical_rows.join(', ')}${identical > identical_rows.length ? ', …' : ''}`;
  const same = identical === 0 ? '' : `, ${identical} left out whose answers are the same (${rows})`;
  return `${stage}: ${trained} pairs trained on, ${held_out} held out${same}; the chosen answer is the longer one in ${(100 * chosen_longer).toFixed(0)} %`;
}

/** `gate 0 after code: math.thinking.avg@8 worse by 0.031 (0.024 to 0.038) than after math, limit 0.02: fired` */
function gateLine(body: Body<'gate'>): string {
  const { gate, after, metric, since, value, limit, result } = body;
  const isDrop = since !== null && since !== undefined;
  const seen = `${metric} ${isDrop ? 'worse by ' : ''}${value.toFixed(3)} (${intervalWords(body)})`;
  return `gate ${gate} after ${after}: ${seen}${isDrop ? ` than ${afterWords(since)}` : ''}, limit ${limit}: ${result}`;
}

const intervalWords = ({ low, high }: { low: number; high: number }): string =>
  `${low.toFixed(3)} to ${high.toFixed(3)}`;

/** The metric path of a cell, as gates name it. */
export const pathOf = ({ suite, mode, metric }: Pick<EvaluationCell, 'suite' | 'mode' | 'metric'>): string =>
  `${suite}.${mode}.${metric}`;

/** `computes on webgpu (NVIDIA H200, 575.57), products of float16` */
function computingLine({ provider, device, precision, instead }: Body<'computing'>): string {
  const where = device === provider ? provider : `${provider} (${device})`;
  return `computes on ${where}, products of ${precision}${instead === null ? '' : `: ${instead}`}`;
}

type Plan = Body<'micro_batches'>['plans'][number];

/** Those that keep the same activations and cut attention the same way, in the order in which each kind first comes. */
function plansOfOneKind(plans: readonly Plan[]): Plan[][] {
  const kinds = new Map<string, Plan[]>();
  for (const plan of plans) {
    const kind = `${plan.activations} ${plan.attention_chunk}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), plan]);
  }
  return [...kinds.values()];
}

/** `micro-batches of 16 x 512, 32 x 256 tokens, activations kept, up to 420.0 MB` */
function planWords(plans: readonly Plan[]): string {
  const { activations, attention_chunk } = plans[0]!;
  const shapes = plans.map(({ rows, length }) => `${rows} x ${length}`).join(', ');
  const attention = attention_chunk === null ? '' : `, attention by ${attention_chunk} queries`;
  const most = bytes(Math.max(...plans.map((plan) => plan.bytes)));
  return `micro-batches of ${shapes} tokens, activations ${activations}${attention}, ${plans.length > 1 ? 'up to ' : ''}${most}`;
}

/** ` (invalid_data): …`; `then` stands before the message, which may have many lines. */
export const because = (
  reason: string | null | undefined,
  message: string | null | undefined,
  then = '',
): string => `${reason ? ` (${reason})` : ''}${then}${message ? `: ${message.trim()}` : ''}`;

const gradingPlace = (at: { stage: string; step: number | null; suite: string | null }): string =>
  at.suite === null
    ? `${at.stage}: step ${at.step}`
    : `evaluation ${pointWords({ after: at.stage, step: at.step })}: ${at.suite}`;

const pointWords = ({ after, step }: Pick<Body<'evaluation'>, 'after' | 'step'>): string =>
  step === null || step === undefined ? afterWords(after) : `in ${after}, step ${step}`;

export const afterWords = (after: string): string =>
  after === 'initial' ? 'before training' : `after ${after}`;
