// pass@j of a task from n samples, of which c passed.

/**
 * The chance that at least one of j samples drawn without replacement from the n passed: 1 - C(n - c, j) / C(n, j), the unbiased
 * estimate (Chen et al. 2021, arXiv 2107.03374, equation 1). Needs j <= n.
 */
export function passAt(n: number, c: number, j: number): number {
  // C(n - c, j) / C(n, j) = product over i of (n - c - i) / (n - i): each factor is at most 1, and nothing overflows.
  let none = 1;
  for (let i = 0; i < j; i += 1) none *= Math.max(0, n - c - i) / (n - i);
  return 1 - none;
}
