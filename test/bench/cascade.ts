// The cascade itself, in process: how the steps of the small world's math and code stages spend their time, after a short supervised
// stage, with the real learner, sampler, graders and sandbox. Services are left out; saving copies weights and moments to files, as the
// trainer does before an uploader streams them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { dataReferences, expandSpec } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { rowSchemas } from '../../api/contract/task.ts';
import type { SftRow, Task } from '../../api/contract/task.ts';
import type { Datasets, Host } from '../../runner/cascade/host.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { openSandbox } from '../../runner/rewards/sandbox/open.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import type { EngineBenchOptions } from './engine.ts';
import type { BenchResult } from './report.ts';
import { summary } from './report.ts';

const examples = resolve(import.meta.dirname, '../../examples');
/** What a step beyond these says is warm. */
const discarded = 2;
const idleGoal = 0.1;

interface Counts {
  readonly sft: number;
  readonly reinforced: number;
}

interface Step {
  readonly stage: string;
  readonly step: number;
  /** Since the step before it. */
  readonly seconds: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

/** Options of devices are ignored. */
export async function cascadeBench({ threads, small }: EngineBenchOptions): Promise<BenchResult[]> {
  const { spec, data } = smallWorld(small ? { sft: 20, reinforced: 6 } : { sft: 120, reinforced: 22 });
  const steps = await stepsOf(spec, data, threads);
  return spec.stages.slice(1).flatMap((stage) => {
    if (!('rollouts' in stage)) throw new Error('internal: an RL stage has rollouts');
    const warm = steps.filter((one) => one.stage === stage.name && one.step > discarded);
    const perStep = stage.prompts_per_step * stage.rollouts;
    return [
      ...timesOf(stage.name, perStep, warm),
      ...(stage.name === 'code' ? sandboxOf(warm, threads) : []),
    ];
  });
}

function timesOf(stage: string, perStep: number, steps: readonly Step[]): BenchResult[] {
  const shares = (['sample', 'score', 'train', 'save'] as const).map((phase) =>
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

/** Of all steps together; `min` and `max` of single ones. */
function shareOf(name: string, steps: readonly Step[], part: (step: Step) => number): BenchResult {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const each = steps.map((step) => part(step) / step.seconds);
  const value = sum(steps.map(part)) / sum(steps.map(({ seconds }) => seconds));
  return { ...summary(name, 'share', each), value };
}

async function stepsOf(spec: ExpandedSpec, data: Datasets, threads: number): Promise<Step[]> {
  const scope = new Scope();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const means = createMeans({ sandbox: await openSandbox() });
  try {
    const runtime = scope.own(createRuntime({ threads }));
    const model = await loadModel(spec.model.init, { datasets: {} }, spec.seed);
    const learner = scope.own(await Learner.create(runtime, model.config, model.weights));
    const sampler = scope.own(new SlotSampler(runtime, learner));
    const steps: Step[] = [];
    const host = hostOf(learner, folder, steps);
    await runCascade(spec, { tokenizer: model.tokenizer, learner, sampler }, data, means, host);
    return steps;
  } finally {
    await means.close();
    scope[Symbol.dispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

function hostOf(learner: Learner, folder: string, steps: Step[]): Host {
  let last = performance.now();
  const note = (entry: Entry): void => {
    const now = performance.now();
    if (entry.type === 'step' || entry.type === 'step_skipped')
      steps.push({ ...entry, seconds: (now - last) / 1000 });
    // How a step cuts its batches is told just before the step itself.
    if (entry.type !== 'micro_batches') last = now;
  };
  return {
    clock: { now: () => performance.now(), wait: () => Promise.reject(new Error('a grader is away')) },
    alive: () => undefined,
    pauseAsked: () => false,
    emit: note,
    progress: () => undefined,
    samples: async () => undefined,
    async snapshot() {
      const { weights, firstMoment, secondMoment } = await learner.state();
      for (const [name, values] of Object.entries({ weights, firstMoment, secondMoment }))
        await writeFile(join(folder, name), values);
    },
  };
}

/** SFT, math and code of examples/small-world.json, without suites, saved every ten steps. */
function smallWorld({ sft, reinforced }: Counts): { spec: ExpandedSpec; data: Datasets } {
  if (!existsSync(join(examples, 'small-world/data/tokenizer/tokenizer.json')))
    execFileSync(process.execPath, [join(examples, 'small-world/generate.ts')]);
  const posted = JSON.parse(readFileSync(join(examples, 'small-world.json'), 'utf8')) as {
    model: { init: { tokenizer: { uri: string } } };
    stages: { kind: string; steps: number }[];
    evaluate?: unknown;
  };
  const { tokenizer } = posted.model.init;
  tokenizer.uri = join(examples, tokenizer.uri);
  posted.stages = posted.stages
    .filter(({ kind }) => ['sft', 'math', 'code'].includes(kind))
    .map((stage) =>
      stage.kind === 'sft' ? { ...stage, batch: 64, steps: sft } : { ...stage, steps: reinforced },
    );
  delete posted.evaluate;
  const spec = jobSpec.parse({ ...posted, checkpoints: { every_steps: 10 } });
  const references = dataReferences(spec);
  const idOf = new Map(references.map(({ data }, at) => [data, `ds_${String(at).padStart(24, '0')}`]));
  const rowsOf = new Map(
    references.map(({ data, kinds: [kind] }) => [
      idOf.get(data)!,
      linesOf(join(examples, data.replace('file:', ''))).map((line) =>
        rowSchemas[kind].parse(JSON.parse(line)),
      ),
    ]),
  );
  return {
    spec: expandSpec(spec, idOf),
    data: {
      sft: (id) => rowsOf.get(id) as readonly SftRow[],
      tasks: (id) => rowsOf.get(id) as readonly Task[],
    },
  };
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
