// How long what is kept, by the service's settings. Undefined: for ever.
export interface Keep {
  /** After the end of a job: its events but its states, and its log. */
  readonly eventsMs?: number | undefined;
  /** After the end of a job. */
  readonly samplesMs?: number | undefined;
  /** After the end of a job: its checkpoints but the last one. */
  readonly checkpointsMs?: number | undefined;
  /** Objects that nothing names, by the store's own time. */
  readonly litterMs: number;
  readonly deliveriesMs: number;
}

const day = 86_400_000;

export const defaultKeep: Keep = { litterMs: day, deliveriesMs: 30 * day };
