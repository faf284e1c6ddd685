// How much a sampler decodes at once.

export interface SlotLimits {
  /** Rows decoded at once, at most. */
  readonly rows: number;
  /** Tokens of cache over all rows, at most (one row is always allowed). */
  readonly cacheTokens: number;
}

/** Where memory allows as much; `explain` reckons with the same (api/contract/memory/cache.ts). */
export const defaultSlotLimits: SlotLimits = { rows: 512, cacheTokens: 131_072 };
