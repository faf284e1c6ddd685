// node test/bench/train-peak.ts LENGTH LAYERS: trains one step on a sequence of that many tokens in a process of its own
// and prints, as JSON, the process's high-water mark beyond that of a runtime with an empty session.

import { readFileSync } from 'node:fs';
import { Graph } from '../../runner/engine/graph/graph.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import type { LengthPlan } from '../../runner/engine/learner/memory-plan.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import { serialize } from '../../runner/engine/onnx/serialize.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';

export interface TrainPeak {
  readonly seconds: number;
  /** Kilobytes that training took at its highest, the weights that it started from included. */
  readonly peakKilobytes: number;
  readonly parameters: number;
  readonly plan: LengthPlan;
}

const [length, layers] = process.argv.slice(2).map(Number) as [number, number];
const config: DecoderConfig = {
  family: 'llama',
  vocabSize: 1024,
  hiddenSize: 128,
  intermediateSize: 344,
  layers,
  heads: 4,
  kvHeads: 2,
  headSize: 32,
  maxPositions: length,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};
const adamw = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, clipNorm: 1 };

function highWaterKilobytes(): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (found === null)
    throw new Error('/proc/self/status has no VmHWM: the high-water mark is known on Linux only');
  return Number(found[1]);
}

const scope = new Scope();
try {
  const runtime = scope.own(createRuntime());
  const empty = new Graph();
  empty.output('y', empty.input('x', 'float32', [1]));
  scope.own(await runtime.createSession(serialize(empty), { label: 'empty' }));
  const before = highWaterKilobytes();
  const learner = scope.own(await Learner.create(runtime, config, initialWeights(config, 1)));
  const started = performance.now();
  const { plan } = await learner.forwardBackward(
    [
      {
        tokens_T: Int32Array.from({ length }, (_, t) => (t * 7) % config.vocabSize),
        weights_T: new Float32Array(length).fill(1 / length, 1),
      },
    ],
    { temperature: 1 },
  );
  await learner.step(adamw);
  const peak: TrainPeak = {
    seconds: (performance.now() - started) / 1000,
    peakKilobytes: highWaterKilobytes() - before,
    parameters: parameterLayout(config).parameterCount,
    plan: plan[0]!,
  };
  console.log(JSON.stringify(peak));
} finally {
  scope[Symbol.dispose]();
}
