// What a rollout is worth, as a sum type: an answer that cannot be scored by its own fault and one that could not
// be scored by ours must never become the same number.

export type Reward =
  | { readonly status: 'scored'; readonly value: number; readonly parts: Readonly<Record<string, number>> }
  /** The answer's own fault; it counts as what the stage says, usually 0. */
  | { readonly status: 'invalid'; readonly code: InvalidCode }
  /** Our fault (sandbox down, judge unreachable): enters neither loss nor statistics. */
  | { readonly status: 'unscored'; readonly cause: string };

export type InvalidCode = 'no_answer';

export const scored = (value: number, parts: Readonly<Record<string, number>> = {}): Reward => ({
  status: 'scored',
  value,
  parts,
});
export const invalid = (code: InvalidCode): Reward => ({ status: 'invalid', code });
export const unscored = (cause: string): Reward => ({ status: 'unscored', cause });
