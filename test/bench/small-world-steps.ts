// The small world in process, without services: the real learner, sampler, graders and sandbox, and what every step says of its time.
// Saving copies weights and moments to files, as the trainer does before an uploader streams them.
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
import type { Datasets, Host, Teachers } from '../../runner/cascade/host.ts';
import type { Point } from '../../runner/cascade/point.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import { Scorer } from '../../runner/engine/learner/scorer.ts';
import type { Weights } from '../../runner/engine/models/initialize.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { openSandbox } from '../../runner/rewards/sandbox/open.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';

const examples = resolve(import.meta.dirname, '../../examples');

export interface Step {
  readonly stage: string;
  readonly step: number;
  /** Since the step before it. */
  readonly seconds: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

export async function stepsOf(spec: ExpandedSpec, data: Datasets, threads: number): Promise<Step[]> {
  const scope = new Scope();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const means = createMeans({ sandbox: await openSandbox() });
  try {
    const runtime = scope.own(createRuntime({ threads }));
    const model = await loadModel(spec.model.init, { datasets: {} }, spec.seed);
    const learner = scope.own(await Learner.create(runtime, model.config, model.weights));
    const sampler = scope.own(new SlotSampler(runtime, learner));
    const steps: Step[] = [];
    const ends = new Map<string, Weights>();
    const teachers: Teachers = {
      atOnce: 1,
      positionsOf: () => undefined,
      open: async (name) =>
        Scorer.create(runtime, model.config, ends.get(name)!, { memoryBytes: learner.memoryBytes }),
    };
    const keep = async ({ stageIndex }: Point): Promise<void> => {
      const weights = await learner.namedWeights();
      ends.set(`stage:${spec.stages[stageIndex]!.name}`, copyOf(weights));
    };
    const host = { ...hostOf(learner, folder, { steps, keep }), teachers };
    await runCascade(spec, { tokenizer: model.tokenizer, learner, sampler }, data, means, host);
    return steps;
  } finally {
    await means.close();
    scope[Symbol.dispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

const copyOf = (weights: Weights): Weights =>
  new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));

interface Noted {
  readonly steps: Step[];
  /** Told of the ends of stages. */
  readonly keep: (point: Point) => Promise<void>;
}

function hostOf(learner: Learner, folder: string, { steps, keep }: Noted): Host {
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
    async snapshot(point, kind) {
      const { weights, firstMoment, secondMoment } = await learner.state();
      for (const [name, values] of Object.entries({ weights, firstMoment, secondMoment }))
        await writeFile(join(folder, name), values);
      if (kind !== 'step') await keep(point);
    },
  };
}

type Posted = Readonly<Record<string, unknown>>;

/** What `chosen` makes of the stages of examples/small-world.json, without suites, saved every ten steps. */
export function smallWorld(chosen: (stages: readonly Posted[]) => readonly Posted[]): {
  spec: ExpandedSpec;
  data: Datasets;
} {
  if (!existsSync(join(examples, 'small-world/data/tokenizer/tokenizer.json')))
    execFileSync(process.execPath, [join(examples, 'small-world/generate.ts')]);
  const posted = JSON.parse(readFileSync(join(examples, 'small-world.json'), 'utf8')) as {
    model: { init: { tokenizer: { uri: string } } };
    stages: readonly Posted[];
    evaluate?: unknown;
  };
  const { tokenizer } = posted.model.init;
  tokenizer.uri = join(examples, tokenizer.uri);
  posted.stages = chosen(posted.stages);
  delete posted.evaluate;
  const spec = jobSpec.parse({ ...posted, checkpoints: { every_steps: 10 } });
  const references = dataReferences(spec);
  const idOf = new Map(references.map(({ data }, at) => [data, `ds_${String(at).padStart(24, '0')}`]));
  const rowsOf = new Map(
    references.map(({ data, kinds }) => {
      const rows = linesOf(join(examples, data.replace('file:', ''))).map(
        (line) => JSON.parse(line) as unknown,
      );
      // Where nothing is graded rows of every kind will do.
      const kind = kinds.find((one) => rowSchemas[one].safeParse(rows[0]).success) ?? kinds[0];
      return [idOf.get(data)!, rows.map((row) => rowSchemas[kind].parse(row))];
    }),
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
