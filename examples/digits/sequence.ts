// The task of the example, as a rule: `3,5:9,4` asks for the next 4 terms of the arithmetic sequence 3, 5, … modulo 9,
// so the answer is `7,0,2,4`.

export interface Sequence {
  readonly first: number;
  readonly second: number;
  /** All arithmetic is modulo this; a prompt whose terms do not lie below it is still continued below it. */
  readonly modulus: number;
  /** How many terms to give. */
  readonly terms: number;
}

export const promptOf = ({ first, second, modulus, terms }: Sequence): string =>
  `${first},${second}:${modulus},${terms}`;

/** The one right continuation; empty where no term is asked for. */
export function answerOf({ first, second, modulus, terms }: Sequence): string {
  const difference = second - first;
  const remainder = (value: number): number => ((value % modulus) + modulus) % modulus;
  return Array.from({ length: terms }, (_, i) => remainder(second + (i + 1) * difference)).join(',');
}

/** Reads a prompt. @throws Error where it is not one. */
export function parsePrompt(prompt: string): Sequence {
  const match = /^(\d+),(\d+):(\d+),(\d+)$/.exec(prompt);
  if (match === null)
    throw new Error(`not a prompt of the form a,b:modulus,terms: ${JSON.stringify(prompt)}`);
  const [first, second, modulus, terms] = match.slice(1).map(Number) as [number, number, number, number];
  return { first, second, modulus, terms };
}
