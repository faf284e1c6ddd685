// Small changes of a Python program. Some change nothing that a test could see (they hit a comment, or another branch),
// so a caller tries one after the other until one is seen.

type Mutation = readonly [pattern: RegExp, replacement: string];

const mutations: readonly Mutation[] = [
  [/(?<=[\w)\]] )\+(?= [\w([])/, '-'],
  [/(?<=[\w)\]] )-(?= [\w([])/, '+'],
  [/ \* /, ' + '],
  [/ == /, ' != '],
  [/ <= /, ' > '],
  [/ < /, ' >= '],
  [/ > /, ' <= '],
  [/\bTrue\b/, 'False'],
  [/\bFalse\b/, 'True'],
  [/\band\b/, 'or'],
  [/\bnot in\b/, 'in'],
  [/\b0\b/, '1'],
  [/\b1\b/, '2'],
  [/\b2\b/, '3'],
  [/\bmin\(/, 'max('],
  [/\bmax\(/, 'min('],
];

/** At most two subtle ones, then nothing returned, then something else returned. */
export function mutants(solution: string): string[] {
  const subtle = mutations
    .map(([pattern, replacement]) => solution.replace(pattern, replacement))
    .filter((mutant) => mutant !== solution)
    .slice(0, 2);
  const returns = /^([ \t]*(?:.*?:[ \t]*)?)return\b[^\r\n]*$/gm;
  return [
    ...subtle,
    solution.replace(/\breturn\b/g, 'return None and'),
    solution.replace(returns, '$1return "changed"'),
  ];
}
