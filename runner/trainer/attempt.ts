// One attempt, start to end: load the model and the rows, resume or begin, run the cascade, wait for the last commit.
import type { DatasetKind, RowOf, SftRow, Task } from '../../api/contract/task.ts';
import { outageOf } from '../cascade/outage.ts';
import type { OutagePolicy } from '../cascade/outage.ts';
import { runRewardModel } from '../cascade/reward-model.ts';
import { runCascade } from '../cascade/run.ts';
import type { Resumed } from '../cascade/point.ts';
import type { Datasets } from '../cascade/host.ts';
import { openCheckpoint } from '../checkpoint/read.ts';
import { DataError } from '../data/error.ts';
import { readRows } from '../data/rows.ts';
import { precisionOf } from '../engine/models/operand-choice.ts';
import { createRuntime } from '../engine/ort/create.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { Scope } from '../engine/ort/scope.ts';
import type { Inputs, StartMessage } from '../ipc.ts';
import type { Means } from '../rewards/means.ts';
import { checkGold } from './check-gold.ts';
import { conditionsOf, differences } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { openMeans } from './open-means.ts';
import { openPolicy } from './open-policy.ts';
import type { OpenModel } from './open-policy.ts';
import { openRewardModel } from './open-reward-model.ts';
import { dataOverlaps } from './data-overlap.ts';
import { livelyClock, ProcessHost } from './process-host.ts';
import type { Parent } from './process-host.ts';
import { restore, snapshotContents } from './resume-state.ts';
import { withSignsOfLife } from './signs-of-life.ts';

/** `onHost` hands out the host as soon as it can take the supervisor's answers. */
export async function runAttempt(
  start: StartMessage,
  parent: Parent,
  onHost: (host: ProcessHost) => void,
): Promise<void> {
  const { claim, inputs, scratch, device } = start;
  const { send } = parent;
  const scope = new Scope();
  let means: Means | undefined;
  try {
    const { provider } = device;
    const bare = createRuntime({ provider, warn: (message) => console.warn(message) });
    const runtime = scope.own(withSignsOfLife(bare, () => send({ type: 'alive' })));
    const data = await readDatasets(start);
    means = await openMeans(claim.spec, runtime, inputs, scope);
    // Rows do not change: gold that an attempt before this one has checked is not asked about again.
    if (inputs.resume === undefined) await checkGold(claim, data, means, outagePolicy(claim, parent));
    const { model, run } = await openWork(start, runtime, scope);
    const { learner, tuning, files, choice, cacheTokens } = model;
    const conditions = conditionsOf(runtime, {
      memoryBytes: learner.memoryBytes,
      cacheTokens,
      precision: precisionOf(choice.operands),
      device: device.name,
    });
    const host = new ProcessHost({
      claim,
      scratch,
      conditions,
      parent,
      teachers: model.teachers,
      outsideTeachers: inputs.teachers,
      contents: (point, kind, carried) => snapshotContents({ learner, files, tuning }, point, kind, carried),
    });
    onHost(host);
    if (inputs.resume === undefined) for (const entry of dataOverlaps(claim.spec, data)) host.emit(entry);
    const from = await resumePoint(start, model, host, conditions);
    host.emit({
      type: 'computing',
      provider,
      device: device.name,
      precision: conditions.precision,
      instead: choice.instead ?? null,
      memory_bytes: conditions.memory_bytes,
      cache_tokens: conditions.cache_tokens,
    });
    try {
      await run(data, means, host, from);
    } finally {
      await host.settled();
    }
  } finally {
    await means?.close();
    scope[Symbol.dispose]();
  }
}

interface Work {
  readonly model: OpenModel;
  run(data: Datasets, means: Means, host: ProcessHost, from: Resumed | undefined): Promise<void>;
}

/** What the job trains, and how; `scope` ends it. */
async function openWork(
  { claim, inputs, device }: StartMessage,
  runtime: Runtime,
  scope: Scope,
): Promise<Work> {
  const { spec } = claim;
  if (spec.type === 'reward_model') {
    const model = scope.own(await openRewardModel(runtime, claim, inputs, device));
    return { model, run: (data, _, host, from) => runRewardModel(spec, model, data, host, from) };
  }
  const policy = scope.own(await openPolicy(runtime, claim, inputs, device));
  return {
    model: policy,
    run: (data, means, host, from) => runCascade(spec, policy, data, means, host, from),
  };
}

/** Before there is a host. */
function outagePolicy({ spec }: StartMessage['claim'], parent: Parent): OutagePolicy {
  return outageOf(spec, {
    clock: livelyClock(parent),
    emit: (entry) => parent.send({ type: 'entry', entry }),
    alive: () => parent.send({ type: 'alive' }),
  });
}

async function resumePoint(
  { claim, inputs }: StartMessage,
  { learner, tuning }: OpenModel,
  host: ProcessHost,
  conditions: Conditions,
): Promise<Resumed | undefined> {
  if (inputs.resume === undefined) {
    const first = claim.spec.stages[0]?.name;
    if (claim.attempt > 1 && first !== undefined) host.emit({ type: 'rewound', stage: first, to_step: 0 });
    return undefined;
  }
  const checkpoint = await openCheckpoint(inputs.resume);
  const point = await restore(learner, checkpoint, tuning);
  host.emit({ type: 'rewound', stage: checkpoint.manifest.stage, to_step: point.step });
  const differing = differences(checkpoint.manifest.conditions, conditions);
  if (differing.length > 0) host.emit({ type: 'resume_inexact', differences: differing });
  return { ...point, passedGates: claim.passed_gates };
}

async function readDatasets({
  claim,
  inputs,
}: {
  claim: StartMessage['claim'];
  inputs: Inputs;
}): Promise<Datasets> {
  const rows = new Map<string, { kind: DatasetKind; rows: readonly RowOf<DatasetKind>[] }>();
  for (const { id, kind } of claim.datasets) {
    const file = inputs.datasets[id];
    if (file === undefined) throw new DataError(`dataset ${id}: the attempt was started without its file`);
    rows.set(id, { kind, rows: await readRows(file, kind) });
  }
  const of = <Row>(id: string, fits: (kind: DatasetKind) => boolean, wanted: string): readonly Row[] => {
    const found = rows.get(id);
    if (found === undefined || !fits(found.kind))
      throw new DataError(
        `dataset ${id}: ${found === undefined ? 'not among the claim’s' : `holds ${found.kind} rows`}, ${wanted} are needed`,
      );
    return found.rows as readonly Row[];
  };
  return {
    sft: (id) => of<SftRow>(id, (kind) => kind === 'sft', 'sft rows'),
    tasks: (id) => of<Task>(id, (kind) => kind !== 'sft', 'rows that can be graded'),
  };
}
