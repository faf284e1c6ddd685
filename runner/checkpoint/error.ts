// What can be wrong with a checkpoint on disk, told apart so that a caller can act.

/** The file system of the scratch directory cannot hold a snapshot. */
export class ScratchFull extends Error {
  override readonly name = 'ScratchFull';
  readonly path: string;
  readonly neededBytes: number;
  readonly freeBytes: number;

  constructor(path: string, neededBytes: number, freeBytes: number, options?: ErrorOptions) {
    super(
      `${path}: a snapshot needs ${neededBytes} bytes, the file system has ${freeBytes} free: ` +
        'free some space or point MILLRACE_SCRATCH at a larger disk',
      options,
    );
    this.path = path;
    this.neededBytes = neededBytes;
    this.freeBytes = freeBytes;
  }
}

/** The directory is no complete checkpoint, or its bytes are not those of its manifest. */
export class CheckpointCorrupt extends Error {
  override readonly name = 'CheckpointCorrupt';
}
