// IFEval's loose judgement (section 2.2 of the paper): an instruction counts as followed where one of eight readings of the
// response follows it, so that an introduction, a closing line or markdown's asterisks cost nothing.

/** The response itself first; white space at the ends of the shortened ones is cut, as the original does. */
export function looseReadings(response: string): string[] {
  const lines = response.split('\n');
  const whole = [
    response,
    lines.slice(1).join('\n').trim(),
    lines.slice(0, -1).join('\n').trim(),
    lines.slice(1, -1).join('\n').trim(),
  ];
  return [...new Set([...whole, ...whole.map((reading) => reading.replaceAll('*', ''))])];
}
