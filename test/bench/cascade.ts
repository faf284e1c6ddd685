// The cascade itself, in process: how the steps of the small world's math and code stages spend their time, after a short supervised
// stage, with the real learner, sampler, graders and sandbox. Services are left out; saving copies weights and moments to files, as the
// trainer does before an uploader streams them.
import type { EngineBenchOptions } from './engine.ts';
import type { BenchResult } from './report.ts';
import { summary } from './report.ts';
import type { Step } from './small-world-steps.ts';
import { smallWorld, stepsOf } from './small-world-steps.ts';
import { discarded, shareOf, timesOf } from './step-times.ts';

const idleGoal = 0.1;

interface Counts {
  readonly sft: number;
  readonly reinforced: number;
}

/** Options of devices are ignored. */
export async function cascadeBench({ threads, small }: EngineBenchOptions): Promise<BenchResult[]> {
  const counts = small ? { sft: 20, reinforced: 6 } : { sft: 120, reinforced: 22 };
  const { spec, data } = smallWorld((stages) => shortened(stages, counts));
  const steps = await stepsOf(spec, data, threads);
  return spec.stages.slice(1).flatMap((stage) => {
    if (!('rollouts' in stage)) throw new Error('internal: an RL stage has rollouts');
    const warm = steps.filter((one) => one.stage === stage.name && one.step > discarded);
    const perStep = stage.prompts_per_step * stage.rollouts;
    return [
      ...timesOf(stage.name, ['sample', 'score', 'train', 'save'], warm, perStep),
      ...(stage.name === 'code' ? sandboxOf(warm, threads) : []),
    ];
  });
}

/** SFT, math and code. */
const shortened = (stages: Parameters<Parameters<typeof smallWorld>[0]>[0], { sft, reinforced }: Counts) =>
  stages
    .filter(({ kind }) => ['sft', 'math', 'code'].includes(String(kind)))
    .map((stage) =>
      stage['kind'] === 'sft' ? { ...stage, batch: 64, steps: sft } : { ...stage, steps: reinforced },
    );

/** The trainer is idle while it waits for rewards after the last rollout; that long it must, whatever overlaps, where sandboxes need it. */
function sandboxOf(steps: readonly Step[], cores: number): BenchResult[] {
  const of = ({ metrics }: Step, key: string): number => metrics[key] ?? 0;
  const beyond = (step: Step): number => {
    const needed = of(step, 'sandbox_core_s') / cores - of(step, 'time_sample');
    return Math.max(0, of(step, 'time_score') - Math.max(0, needed));
  };
  return [
    summary(
      'code_sandbox_core_s',
      's',
      steps.map((step) => of(step, 'sandbox_core_s')),
    ),
    { ...shareOf('code_idle_beyond_cores', steps, beyond), goal: idleGoal },
  ];
}
