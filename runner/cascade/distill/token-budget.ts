// Which rollouts of a domain a step learns from. A budget keeps domains of long responses from taking the place of those of short ones
// (Open-MOPD, arXiv 2608.19098): whole rollouts in the order of the batch. The first that does not fit ends it, though a shorter one
// after it would fit: else short responses would be preferred.

/** By response tokens of a domain's rollouts in the order of the batch; of none that fits the first is kept. */
export function withinBudget(lengths: readonly number[], budget: number | undefined): boolean[] {
  let used = 0;
  let full = false;
  return lengths.map((length, i) => {
    used += length;
    full ||= used > (budget ?? Infinity) && i > 0;
    return !full;
  });
}
