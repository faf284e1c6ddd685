// Cuts a flat range into chunks for sessions that run over it piece by piece. The arenas of one chunk should stay
// in the cache between the passes of its graph; measured on 20 M parameters, see the figure beside `chunkElements`.

export interface FlatChunk {
  readonly begin: number;
  readonly end: number;
}

/** AdamW over 20 M parameters, 2 threads: 43 ms at 32 K elements, 41 at 128 K, 34 at 256 K, 31 at 512 K, 31 at 1 M. */
export const chunkElements = 1 << 19;

export function flatChunks(begin: number, end: number, size = chunkElements): FlatChunk[] {
  const chunks: FlatChunk[] = [];
  for (let at = begin; at < end; at += size) chunks.push({ begin: at, end: Math.min(end, at + size) });
  return chunks;
}
