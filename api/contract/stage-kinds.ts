// How stages learn, whichever form they are in, posted or expanded.

/** From rewards. */
export const isReinforced = <One extends { readonly kind: string }>(
  stage: One,
): stage is Exclude<One, { kind: 'sft' | 'reward_model' | 'distill' }> =>
  !['sft', 'reward_model', 'distill'].includes(stage.kind);

/** From teachers. */
export const isDistilled = <One extends { readonly kind: string }>(
  stage: One,
): stage is Extract<One, { kind: 'distill' }> => stage.kind === 'distill';
