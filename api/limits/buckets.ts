// Token buckets by name, in the memory of this process: each holds `burst` tokens at most and is filled at `perMinute`. Two
// processes of the API count apart, so that together they let through twice as much.

export interface BucketSize {
  readonly perMinute: number;
  readonly burst: number;
}

export interface Taken {
  readonly taken: boolean;
  /** Whole tokens that are left. */
  readonly left: number;
  /** Seconds until there is a token again, 0 where there is one. */
  readonly waitS: number;
  /** Seconds until the bucket is full. */
  readonly fullInS: number;
}

export interface Buckets {
  take(name: string): Taken;
  /** The same without taking: `taken` says whether there was a token. */
  look(name: string): Taken;
}

/** Buckets that are remembered; a full one need not be. */
const most = 10_000;

export function createBuckets({ perMinute, burst }: BucketSize, nowMs: () => number): Buckets {
  const held = new Map<string, { readonly tokens: number; readonly at: number }>();
  const perMs = perMinute / 60_000;
  const tokensOf = (name: string, now: number): number => {
    const bucket = held.get(name);
    // A clock that was set back fills nothing.
    return bucket === undefined
      ? burst
      : Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
  };
  const answer = (taken: boolean, tokens: number): Taken => ({
    taken,
    left: Math.floor(tokens),
    waitS: Math.max(0, Math.ceil((1 - tokens) / perMs / 1_000)),
    fullInS: Math.ceil((burst - tokens) / perMs / 1_000),
  });
  return {
    look(name) {
      const tokens = tokensOf(name, nowMs());
      return answer(tokens >= 1, tokens);
    },
    take(name) {
      const now = nowMs();
      const tokens = tokensOf(name, now);
      if (tokens < 1) return answer(false, tokens);
      // Deleted first, so that the map's order is that of last use.
      held.delete(name);
      held.set(name, { tokens: tokens - 1, at: now });
      if (held.size > most) forget(held, (other) => tokensOf(other, now) >= burst);
      return answer(true, tokens - 1);
    },
  };
}

/** Those that say nothing any more; where all say something, the one that was used the longest ago. */
function forget(held: Map<string, unknown>, isFull: (name: string) => boolean): void {
  for (const name of held.keys()) if (isFull(name)) held.delete(name);
  const [oldest] = held.keys();
  if (held.size > most && oldest !== undefined) held.delete(oldest);
}
