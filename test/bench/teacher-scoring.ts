// How fast a frozen teacher scores given answers, beside the prefill of the sampler over the same tokens: both are one forward of the
// blocks, the teacher's head comes on top. In turns, since the machine's speed swings.

import { loadParameters } from '../../runner/engine/learner/parameter-set.ts';
import { Scorer } from '../../runner/engine/learner/scorer.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SamplingPrograms } from '../../runner/engine/sampler/programs.ts';
import { samplerWeights } from '../../runner/engine/sampler/sampled-model.ts';
import { Fence } from './fence.ts';
import { llama400k, llama20m } from './models.ts';
import { summary } from './report.ts';
import type { BenchResult } from './report.ts';

interface Plan {
  readonly config: DecoderConfig;
  readonly sequences: number;
  readonly length: number;
  readonly rounds: number;
}

const full: Plan = { config: llama20m, sequences: 16, length: 256, rounds: 9 };
const reduced: Plan = { config: llama400k, sequences: 2, length: 64, rounds: 2 };

/** Of a sequence the first quarter is its prompt. */
const sequencesOf = ({ config, sequences, length }: Plan) =>
  Array.from({ length: sequences }, (_, b) => ({
    tokens_T: Int32Array.from({ length }, (_, t) => (b * 131 + t * 7) % config.vocabSize),
    weights_T: new Float32Array(length),
    scoredFrom: length / 4,
  }));

export async function measureTeacherScoring(runtime: Runtime, small = false): Promise<BenchResult[]> {
  const plan = small ? reduced : full;
  const { config, sequences, length, rounds } = plan;
  const scope = new Scope();
  try {
    const weights = initialWeights(config, 1);
    const scorer = scope.own(await Scorer.create(runtime, config, weights));
    const parameters = scope.own(await loadParameters(runtime, config, weights));
    const named = samplerWeights({ config, weights: parameters });
    const programs = scope.own(await SamplingPrograms.create(runtime, config, named, 1, length));
    const fence = scope.own(new Fence(runtime));
    const given = sequencesOf(plan);
    const tokens = sequences * length;
    const rates = { teacher: [] as number[], prefill: [] as number[] };
    for (let round = 0; round <= rounds; round += 1) {
      const teacher = await rateOf(tokens, fence, () => scorer.score(given, { temperature: 1 }));
      const prefill = await rateOf(tokens, fence, () => prefillAll(programs, given));
      if (round === 0) continue; // compiles
      rates.teacher.push(teacher);
      rates.prefill.push(prefill);
    }
    return [
      summary('teacher_tokens', 'tokens/s', rates.teacher),
      summary('prefill_tokens', 'tokens/s', rates.prefill),
      summary(
        'teacher_prefill_ratio',
        'ratio',
        rates.teacher.map((rate, i) => rate / rates.prefill[i]!),
        { goal: 0.8 },
      ),
    ];
  } finally {
    scope[Symbol.dispose]();
  }
}

async function rateOf(tokens: number, fence: Fence, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  await fence.reached();
  return tokens / ((performance.now() - started) / 1000);
}

async function prefillAll(
  programs: SamplingPrograms,
  given: readonly { readonly tokens_T: Int32Array }[],
): Promise<void> {
  for (const { tokens_T } of given) {
    const length = tokens_T.length;
    const program = await programs.prefill(length);
    program.tokens.set(tokens_T);
    for (let s = 0; s < length; s += 1) program.positions[s] = BigInt(s);
    program.lastPositions[0] = length - 1;
    program.longest[0] = length;
    await program.binding.run();
  }
}
