// One decode step as both benches of decoding time it: every row holds `firstPosition` tokens and more. Measures only; what
// a step is compared with is theirs.

import type { SamplingPrograms } from '../../runner/engine/sampler/programs.ts';
import type { Fence } from './fence.ts';

export const firstPosition = 100;

/** Seconds of a step over `rows` rows, over `steps` steps in a row. */
export async function decodeStep(
  programs: SamplingPrograms,
  rows: number,
  steps: number,
  fence: Fence,
): Promise<number> {
  const program = await programs.decode(rows, { draw: 'plain', biased: false });
  const started = performance.now();
  for (let position = firstPosition; position < firstPosition + steps; position += 1) {
    program.tokens.set(program.nextTokens);
    program.positions.fill(BigInt(position));
    program.lastPositions.fill(position);
    program.longest[0] = position + 1;
    program.uniform.fill(((position * 37) % 100) / 100 + 0.005);
    await program.binding.run();
  }
  await fence.reached();
  return (performance.now() - started) / 1000 / steps;
}
