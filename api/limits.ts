// What a request may weigh and how long things last, in one place. The entry may change any of it.

export interface Limits {
  /** Bytes of a JSON body. */
  readonly jsonBytes: number;
  /** Bytes of answers to be graded. */
  readonly gradeBytes: number;
  /** Bytes of a dataset as it is sent, compressed or not. */
  readonly datasetBytes: number;
  /** Bytes of a dataset after decompression: a small body may unfold to anything. */
  readonly datasetUnpackedBytes: number;
  /** A JSON array is held in memory whole; JSONL of any size is not. */
  readonly datasetArrayBytes: number;
  /** Bytes of one JSONL line. */
  readonly datasetLineBytes: number;
  /** Requests of one key in a minute, in the long run; calls of the runner protocol are not counted. */
  readonly requestsPerMinute: number;
  /** Requests of one key at once. */
  readonly requestBurst: number;
  /** Event streams that one key may have open. */
  readonly streamsPerKey: number;
  /** Requests with a wrong key, or none, that one address may send in a minute. */
  readonly refusalsPerMinute: number;
}

export const defaultLimits: Limits = {
  jsonBytes: 8 << 20,
  gradeBytes: 4 << 20,
  datasetBytes: 512 << 20,
  datasetUnpackedBytes: 4 * 2 ** 30,
  datasetArrayBytes: 64 << 20,
  datasetLineBytes: 8 << 20,
  requestsPerMinute: 600,
  requestBurst: 200,
  streamsPerKey: 100,
  refusalsPerMinute: 60,
};

export interface Timing {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** How often a followed job's events are looked for when no hint comes. */
  readonly pollMs: number;
  /** After this silence an event stream carries a comment, so that proxies keep it open. */
  readonly keepAliveMs: number;
  /** An event stream ends after so long, whatever goes on: its reader asks again, from where it was. */
  readonly streamMs: number;
  /** /readyz writes to the store this often; null: only where there is nothing to read. */
  readonly writeProbeMs: number | null;
  /** A serving runner that says nothing for so long is lost; while it has nothing to tell it sends comments. */
  readonly servingSilenceMs: number;
}

export const defaultTiming: Timing = {
  leaseMs: 30_000,
  heartbeatMs: 2_000,
  pollMs: 1_000,
  keepAliveMs: 15_000,
  streamMs: 86_400_000,
  writeProbeMs: 60_000,
  servingSilenceMs: 30_000,
};
