// How the steps of a stage spend their time, as results of a bench: shares of the time from step to step.
import type { BenchResult } from './report.ts';
import { summary } from './report.ts';
import type { Step } from './small-world-steps.ts';

/** What a step beyond these says is warm. */
export const discarded = 2;

/** `parts` of a step as they stand in its metrics, `time_PART`; `perStep`: rollouts of a step. */
export function timesOf(
  stage: string,
  parts: readonly string[],
  steps: readonly Step[],
  perStep: number,
): BenchResult[] {
  const shares = parts.map((phase) =>
    shareOf(`${stage}_${phase}_share`, steps, ({ metrics }) => metrics[`time_${phase}`] ?? 0),
  );
  const seconds = steps.map((step) => step.seconds);
  return [
    ...shares,
    summary(`${stage}_step`, 's', seconds),
    summary(
      `${stage}_samples`,
      'samples/s',
      seconds.map((taken) => perStep / taken),
    ),
  ];
}

/** Of all steps together; `min` and `max` of single ones. */
export function shareOf(name: string, steps: readonly Step[], part: (step: Step) => number): BenchResult {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const each = steps.map((step) => part(step) / step.seconds);
  const value = sum(steps.map(part)) / sum(steps.map(({ seconds }) => seconds));
  return { ...summary(name, 'share', each), value };
}
