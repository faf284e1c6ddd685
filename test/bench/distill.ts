// What teachers cost: a stage of the small world that distils, in process, and a frozen model's scoring beside the sampler's prefill.
// Learning is by the policy gradient: with divergences the teacher runs inside the learner's own passes.
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { EngineBenchOptions } from './engine.ts';
import type { BenchResult } from './report.ts';
import { summary } from './report.ts';
import type { Step } from './small-world-steps.ts';
import { smallWorld, stepsOf } from './small-world-steps.ts';
import { discarded, timesOf } from './step-times.ts';
import { measureTeacherScoring } from './teacher-scoring.ts';

const domains = ['math', 'instruction', 'swe'];

interface Counts {
  readonly sft: number;
  readonly distill: number;
}

export async function distillBench({ threads, provider, small }: EngineBenchOptions): Promise<BenchResult[]> {
  const counts = small ? { sft: 20, distill: 6 } : { sft: 120, distill: 22 };
  const { spec, data } = smallWorld((stages) => [...shortened(stages, counts), distilling(stages, counts)]);
  const steps = await stepsOf(spec, data, threads);
  const warm = steps.filter(({ stage, step }) => stage === 'distill' && step > discarded);
  const runtime = createRuntime({ threads, provider });
  try {
    return [
      ...timesOf('distill', ['sample', 'teach', 'train', 'save'], warm, prompts * rollouts),
      over('teach_over_sample', warm, 'time_sample'),
      over('teach_over_train', warm, 'time_train'),
      ...(await measureTeacherScoring(runtime, small)),
    ];
  } finally {
    runtime[Symbol.dispose]();
  }
}

type Stages = Parameters<Parameters<typeof smallWorld>[0]>[0];

const [prompts, rollouts] = [30, 8];

/** SFT, and a little of math, so that the teacher is another model than the policy. */
const shortened = (stages: Stages, { sft }: Counts) =>
  stages
    .filter(({ kind }) => kind === 'sft' || kind === 'math')
    .map((stage) =>
      stage['kind'] === 'sft'
        ? { ...stage, batch: 64, steps: sft }
        : { ...stage, steps: 4, filter: { type: 'off' } },
    );

const distilling = (stages: Stages, { distill }: Counts) => ({
  kind: 'distill',
  ...{ steps: distill, prompts_per_step: prompts, rollouts, max_response: 48, lr: 0.0002 },
  domains: domains.map((domain) => {
    const { data, mode } = stages.find(({ kind }) => kind === domain)!;
    return { domain, data, mode, teacher: 'stage:sft' };
  }),
});

const over = (name: string, steps: readonly Step[], part: string): BenchResult =>
  summary(
    name,
    'ratio',
    steps.map(({ metrics }) => (metrics['time_teach'] ?? 0) / (metrics[part] ?? 0)),
  );
