// From the options of a call to the variant that draws for them and the numbers that it reads.
import { narrowWidth } from './choose.ts';
import type { DrawVariant } from './choose.ts';
import type { SampleOptions } from './completion.ts';
import type { DecodeProgram, SamplingPrograms } from './programs.ts';

/**
 * Logits, biases among them, times this stay finite in float32. Colder than its inverse is as good as the likeliest word, so
 * that colder draws are drawn at it.
 */
const mostInverseTemperature = 1e28;
const mostBias = 1e6;

/** The least that float32 holds in full: a smaller share kept would be none. */
const leastTopP = 2 ** -126;

/** RangeError naming the option that cannot be meant. */
export function checkOptions(options: SampleOptions, vocabSize: number): void {
  const { temperature, topK = 0, topP = 1, minP = 0, logitBias = new Map() } = options;
  const refuse = (name: string, value: number, range: string): never => {
    throw new RangeError(`${name} is ${value}, it must be ${range}`);
  };
  if (!(temperature >= 0 && temperature < Infinity)) refuse('temperature', temperature, 'a number from 0');
  if (!Number.isInteger(topK) || topK < 0) refuse('topK', topK, 'a whole number from 0 (0: all words)');
  if (!(topP > 0 && topP <= 1)) refuse('topP', topP, 'above 0 and at most 1');
  if (!(minP >= 0 && minP <= 1)) refuse('minP', minP, 'from 0 to 1');
  for (const [token, bias] of logitBias) {
    if (!Number.isInteger(token) || token < 0 || token >= vocabSize)
      refuse('a token of logitBias', token, `an id below ${vocabSize}`);
    if (!(Math.abs(bias) <= mostBias))
      refuse(
        `logitBias of token ${token}`,
        bias,
        `from -${mostBias} to ${mostBias}; -100 all but bans a word`,
      );
  }
}

/** The fastest variant that draws as the options say. */
export function variantFor(options: SampleOptions, vocabSize: number): DrawVariant {
  const { temperature, topK = 0, topP = 1, minP = 0, logitBias } = options;
  const biased = logitBias !== undefined && logitBias.size > 0;
  const limited = topK > 0 && topK < vocabSize;
  if (temperature === 0) return { draw: 'greedy', biased };
  if (!limited && topP === 1 && minP === 0) return { draw: temperature === 1 ? 'plain' : 'tempered', biased };
  const fitsNarrow = !limited || topK <= narrowWidth(vocabSize);
  return { draw: fitsNarrow ? 'narrow' : 'wide', biased };
}

/** Must a narrow draw that kept its last word be drawn again? Not where top-k allows no more than it sorted. */
export const mayKeepMore = ({ topK = 0 }: SampleOptions, vocabSize: number): boolean =>
  narrowWidth(vocabSize) < vocabSize && (topK === 0 || topK > narrowWidth(vocabSize));

export function fillDraw(program: DecodeProgram, options: SampleOptions, vocabSize: number): void {
  const { temperature, topK = 0, topP = 1, minP = 0 } = options;
  if (temperature > 0) program.inverseTemperature[0] = Math.min(1 / temperature, mostInverseTemperature);
  program.topK[0] = topK === 0 ? vocabSize : Math.min(topK, vocabSize);
  // Above 1: the sum of all words may come out a little above 1 itself.
  program.topP[0] = topP === 1 ? 2 : Math.max(topP, leastTopP);
  program.minP[0] = minP;
}

export function fillBias(programs: SamplingPrograms, { logitBias }: SampleOptions): void {
  programs.logitBias.fill(0);
  for (const [token, bias] of logitBias ?? []) programs.logitBias[token] = bias;
}
