// The lengths that a spec allows: how long a sequence its stages may train and its stages and suites may sample, and how
// many tokens a step may hold. A prompt's tokens are not known before a runner reads them: one is counted.
import type { Issue } from '../issues.ts';
import type { JobSpec } from '../spec.ts';
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

/** `positions` of the model, where they are known, end every sequence. */
export function lengthsOf(spec: JobSpec, positions = Infinity): SpecLengths {
  const stages = stagesOf(spec).map(({ pointer, stage }) =>
    stage.kind === 'sft'
      ? { pointer: `${pointer}/max_length`, tokens: stage.max_length, trained: true, sampled: false }
      : { pointer: `${pointer}/max_response`, tokens: stage.max_response + 1, trained: true, sampled: true },
  );
  const suites = spec.evaluate.suites.map(({ sampling }, index) => ({
    pointer: `/evaluate/suites/${index}/sampling/max_response`,
    tokens: sampling.max_response + 1,
    trained: false,
    sampled: true,
  }));
  const limits = [...stages, ...suites].map((limit) => ({
    ...limit,
    tokens: Math.min(limit.tokens, positions),
  }));
  const longest = (kind: 'trained' | 'sampled'): number =>
    Math.max(0, ...limits.filter((limit) => limit[kind]).map(({ tokens }) => tokens));
  return { limits, trained: longest('trained'), sampled: longest('sampled'), sequences: sequencesOf(spec) };
}

/** A suite's tasks are answered all at once: as many as the sampler takes. */
function sequencesOf(spec: JobSpec): number {
  if (spec.evaluate.suites.length > 0) return Infinity;
  return Math.max(
    1,
    ...stagesOf(spec).map(({ stage }) =>
      stage.kind === 'sft' ? 1 : stage.prompts_per_step * stage.rollouts,
    ),
  );
}

export interface StepTokens {
  readonly stage: string;
  readonly pointer: string;
  readonly sequences: number;
  /** At most, and prompts not counted where they are not known. */
  readonly tokens: number;
}

export function stepTokens(spec: JobSpec, positions = Infinity): StepTokens[] {
  return stagesOf(spec).map(({ pointer, stage }) => {
    const sequences = stage.kind === 'sft' ? stage.batch : stage.prompts_per_step * stage.rollouts;
    const length = Math.min(positions, stage.kind === 'sft' ? stage.max_length : stage.max_response);
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
