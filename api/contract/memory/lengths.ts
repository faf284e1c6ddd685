// The lengths that a spec allows: how long a sequence its stages may train and its stages and suites may sample, and how
// many tokens a step may hold. A prompt's tokens are not known before a runner reads them: one is counted.
import type { Issue } from '../issues.ts';
import type { JobSpec } from '../spec.ts';
import { isDistilled } from '../stage-kinds.ts';
import { phasesOf } from '../stages/phase.ts';
import { stagesOf } from '../stages-of.ts';
import type { Lengths } from './need.ts';

/** A length, and the field that it comes from. */
export interface Limit {
  readonly pointer: string;
  readonly tokens: number;
}

export interface SpecLengths extends Lengths {
  /** By stage, then by suite; a supervised stage samples nothing, a suite trains nothing. */
  readonly limits: readonly (Limit & { readonly trained: boolean; readonly sampled: boolean })[];
}

type Stage = ReturnType<typeof stagesOf>[number]['stage'];

/** Stages that read what they learn from, and sample nothing. */
const isSupervised = (stage: Stage): stage is Extract<Stage, { max_length: number }> => 'max_length' in stage;

/** A stage that distils has no phases. */
const responsesOf = (stage: Exclude<Stage, { max_length: number }>) =>
  isDistilled(stage) ? [stage] : phasesOf(stage);

const longestResponse = (stage: Exclude<Stage, { max_length: number }>): number =>
  Math.max(...responsesOf(stage).map(({ max_response }) => max_response));

/** `positions` of the model, where they are known, end every sequence. */
export function lengthsOf(spec: JobSpec, positions = Infinity): SpecLengths {
  const limits = [...stagesOf(spec).flatMap(stageLimits), ...suiteLimits(spec)].map((limit) => ({
    ...limit,
    tokens: Math.min(limit.tokens, positions),
  }));
  const longest = (kind: 'trained' | 'sampled'): number =>
    Math.max(0, ...limits.filter((limit) => limit[kind]).map(({ tokens }) => tokens));
  return { limits, trained: longest('trained'), sampled: longest('sampled'), sequences: sequencesOf(spec) };
}

type StageLimit = SpecLengths['limits'][number];

function stageLimits({ pointer, stage }: ReturnType<typeof stagesOf>[number]): StageLimit[] {
  if (isSupervised(stage))
    return [{ pointer: `${pointer}/max_length`, tokens: stage.max_length, trained: true, sampled: false }];
  const phases = ('phases' in stage ? stage.phases : undefined) ?? [{}];
  return responsesOf(stage).map(({ max_response }, index) => ({
    pointer: `${pointer}${'max_response' in phases[index]! ? `/phases/${index}` : ''}/max_response`,
    tokens: max_response + 1,
    trained: true,
    sampled: true,
  }));
}

const suiteLimits = (spec: JobSpec): StageLimit[] =>
  spec.evaluate.suites.map((suite, index) => {
    const at = `/evaluate/suites/${index}`;
    return suite.measure === 'loss'
      ? { pointer: `${at}/max_length`, tokens: suite.max_length, trained: false, sampled: false }
      : {
          pointer: `${at}/sampling/max_response`,
          tokens: suite.sampling.max_response + 1,
          trained: false,
          sampled: true,
        };
  });

/** A suite's tasks are answered all at once: as many as the sampler takes. */
function sequencesOf(spec: JobSpec): number {
  if (spec.evaluate.suites.length > 0) return Infinity;
  return Math.max(1, ...stagesOf(spec).map(({ stage }) => (isSupervised(stage) ? 1 : rolloutsOf(stage))));
}

const rolloutsOf = (stage: { prompts_per_step: number; rollouts: number }): number =>
  stage.prompts_per_step * stage.rollouts;

export interface StepTokens {
  readonly stage: string;
  readonly pointer: string;
  readonly sequences: number;
  /** At most, and prompts not counted where they are not known. */
  readonly tokens: number;
}

export function stepTokens(spec: JobSpec, positions = Infinity): StepTokens[] {
  return stagesOf(spec).map(({ pointer, stage }) => {
    const pairs = stage.kind === 'reward_model' ? 2 : 1;
    const sequences = isSupervised(stage) ? pairs * stage.batch : rolloutsOf(stage);
    const length = Math.min(positions, isSupervised(stage) ? stage.max_length : longestResponse(stage));
    return { stage: stage.name ?? stage.kind, pointer, sequences, tokens: sequences * length };
  });
}

/** Answers that no prompt leaves room for in the model's positions. */
export function lengthIssues(spec: JobSpec, positions: number): Issue[] {
  return lengthsOf(spec)
    .limits.filter(({ sampled, tokens }) => sampled && tokens > positions)
    .map(({ pointer, tokens }) => ({
      pointer,
      message: `${tokens - 1} tokens and a prompt exceed the model's ${positions} positions: give a smaller max_response`,
    }));
}
