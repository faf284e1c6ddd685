// Tokens a second of decoding 64 sequences of a model of 3.7 M parameters, once with room for 256 tokens a row and once for 1,024, rows equally full in
// both: an in-place cache promises that unused room costs nothing. Measured in turns, since the machine's speed swings.

import { loadParameters } from '../../runner/engine/learner/parameter-set.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SamplingPrograms } from '../../runner/engine/sampler/programs.ts';
import { samplerWeights } from '../../runner/engine/sampler/sampled-model.ts';
import { decodeStep } from './decode-step.ts';
import { Fence } from './fence.ts';
import { llama400k, llama4m } from './models.ts';
import { summary } from './report.ts';
import type { BenchResult } from './report.ts';

const full = { config: llama4m, sequences: 64, steps: 50, rounds: 9 };
const reduced: typeof full = { config: llama400k, sequences: 8, steps: 8, rounds: 2 };

export async function measureDecoding(runtime: Runtime, small = false): Promise<BenchResult[]> {
  const plan = small ? reduced : full;
  const { config, sequences, rounds } = plan;
  const scope = new Scope();
  try {
    const weights = scope.own(await loadParameters(runtime, config, initialWeights(config, 1)));
    const fence = scope.own(new Fence(runtime));
    const named = samplerWeights({ config, weights });
    const programsOf = async (room: number): Promise<SamplingPrograms> =>
      scope.own(await SamplingPrograms.create(runtime, config, named, sequences, room));
    const rooms = [
      { room: 256, rates: [] as number[], programs: await programsOf(256) },
      { room: 1024, rates: [] as number[], programs: await programsOf(1024) },
    ];
    for (let round = 0; round <= rounds; round += 1) {
      for (const { programs, rates } of rooms) {
        const rate = sequences / (await decodeStep(programs, sequences, plan.steps, fence));
        if (round > 0) rates.push(rate);
      }
    }
    const [small, large] = rooms as [(typeof rooms)[number], (typeof rooms)[number]];
    return [
      ...rooms.map(({ room, rates }) => summary(`decode_tokens_cache_${room}`, 'tokens/s', rates)),
      summary(
        'decode_cache_ratio',
        'ratio',
        small.rates.map((rate, i) => rate / large.rates[i]!),
        { goal: 1.3 },
      ),
    ];
  } finally {
    scope[Symbol.dispose]();
  }
}
