// Messages between the runner's processes, both sides in one place: supervisor <-> trainer, supervisor <-> uploader,
// supervisor <-> grader.
// They travel as JSON over the channel that `fork` opens. Bulk data never does: messages name files in scratch.
import type { CheckpointCommit, Manifest } from '../api/contract/checkpoint.ts';
import type { GoldReport } from '../api/contract/dataset.ts';
import type { Entry } from '../api/contract/event.ts';
import type { GradeItem, GradeResult } from '../api/contract/grade.ts';
import type { CodeLanguage, Grader } from '../api/contract/grader.ts';
import type { Progress } from '../api/contract/job.ts';
import type { Accelerator } from '../api/contract/names.ts';
import type { Claim, ClaimedCheckpoint, Outcome } from '../api/contract/runner.ts';
import type { TaskKind } from '../api/contract/task.ts';

/** Local paths of all that an attempt starts from. */
export interface Inputs {
  /** JSONL files by dataset id. */
  readonly datasets: Readonly<Record<string, string>>;
  /** Directory in Hugging Face layout of `model.init` (hf or checkpoint); absent for `config`. */
  readonly init?: string;
  /** Directory with tokenizer.json, where `model.init.tokenizer` names one by URI. */
  readonly tokenizer?: string;
  /** Directory of the checkpoint to go on from, its hashes verified. */
  readonly resume?: string;
  /** Directories of the checkpoints that graders score with, by id. */
  readonly rewardModels?: Readonly<Record<string, string>>;
  /** Directories of teachers from outside the job, by checkpoint id or URI. */
  readonly teachers?: Readonly<Record<string, string>>;
}

/** Where the runner computes, as it has registered. */
export interface Device {
  readonly provider: Accelerator;
  /** GB of 10^9 bytes; of RAM on cpu. */
  readonly memoryGb: number;
  /** Adapter and driver, as far as they are known. */
  readonly name: string;
}

/** What the probe, forked before the runner registers, says of the provider it was asked for; then it ends. */
export type FromProbe =
  | {
      readonly type: 'found';
      readonly provider: Accelerator;
      readonly precision: string;
      /** Why others were passed over, and why products are not of 16 bits. */
      readonly told: readonly string[];
    }
  | { readonly type: 'unavailable'; readonly message: string };

export interface StartMessage {
  readonly type: 'start';
  readonly claim: Claim;
  readonly inputs: Inputs;
  /** An empty directory of the attempt, removed with it. */
  readonly scratch: string;
  readonly device: Device;
}

export type ToTrainer =
  | StartMessage
  /** The snapshot in `dir` is committed and gone from scratch: the next one may be written. */
  | { readonly type: 'snapshot_done'; readonly dir: string }
  /** What the end of a stage has been fetched to, or why not. */
  | { readonly type: 'stage_end'; readonly stageIndex: number; readonly dir: string }
  | { readonly type: 'stage_end_missing'; readonly stageIndex: number; readonly message: string }
  /** Keep a snapshot after the step at work, then end as paused. May come before there is anything to keep. */
  | { readonly type: 'pause' };

type SamplesEntry = Extract<Entry, { type: 'samples' }>;

export type FromTrainer =
  | { readonly type: 'entry'; readonly entry: Entry }
  | { readonly type: 'progress'; readonly progress: Progress }
  /** Sign of life during long work; entries and progress are signs of life too. */
  | { readonly type: 'alive' }
  /** A complete snapshot directory, manifest written. At most one is pending: wait for `snapshot_done`. */
  | { readonly type: 'snapshot'; readonly dir: string; readonly meta: SnapshotMeta }
  /** The committed end of a stage is wanted in `dir`, to learn from: answered by `stage_end` or `stage_end_missing`. */
  | { readonly type: 'fetch_stage_end'; readonly stageIndex: number; readonly dir: string }
  /** A shard of samples in scratch; `entry` is reported once the shard lies in the store under `entry.key`. */
  | { readonly type: 'samples'; readonly file: string; readonly entry: SamplesEntry }
  /** The last message: every snapshot has been committed, the process exits next. */
  | { readonly type: 'outcome'; readonly outcome: Outcome };

export type SnapshotMeta = Pick<Manifest, 'stage' | 'stage_index' | 'step' | 'kind'>;

/** What the uploader moves between store and scratch, one transfer at a time, in the order asked. */
export type Transfer =
  | {
      readonly kind: 'fetch_file';
      readonly key: string;
      readonly size: number;
      readonly sha256: string;
      readonly file: string;
    }
  | {
      readonly kind: 'fetch_checkpoint';
      readonly checkpoint: ClaimedCheckpoint;
      readonly dir: string;
      /** model: without what only training goes on from, and without the manifest, which lists that too. */
      readonly part?: 'model';
    }
  /** The model files right below an s3: URI. */
  | { readonly kind: 'fetch_model'; readonly uri: string; readonly dir: string }
  | { readonly kind: 'store_snapshot'; readonly dir: string; readonly prefix: string }
  | { readonly kind: 'store_file'; readonly file: string; readonly key: string };

export interface ToUploader {
  readonly id: number;
  readonly transfer: Transfer;
}

/**
 * - `unavailable`: the store gave no answer, refused us or is full, after retries;
 * - `missing`: the object is not there; `corrupt`: bytes differ from their announced hash;
 * - `scratch_full`: no space to fetch to.
 */
export type TransferFailureCode = 'unavailable' | 'missing' | 'corrupt' | 'scratch_full';

export type FromUploader =
  /** Said every second, whatever the store does: a process that does not is stuck. */
  | { readonly type: 'alive' }
  /** `commit` is the answer to `store_snapshot`. */
  | { readonly type: 'done'; readonly id: number; readonly commit?: CheckpointCommit }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: TransferFailureCode;
      readonly message: string;
    };

/** The checkpoint `id` lies in `directory`, unless the grader holds it open already. */
export interface FetchedRewardModel {
  readonly id: string;
  readonly directory: string;
}

/** An errand as the grader gets it: rows that had to be fetched lie in `file`, JSONL. */
export type GraderWork =
  | {
      readonly kind: 'grade';
      readonly grader: Grader;
      readonly items: readonly GradeItem[];
      /** What a grader of type preference scores with. */
      readonly rewardModel?: FetchedRewardModel;
    }
  | {
      readonly kind: 'validate';
      readonly grader: Grader;
      readonly rows: TaskKind;
      readonly file: string;
    };

/** One errand at a time. `describe`: say what you can, no errand follows. */
export type ToGrader = { readonly type: 'describe' } | { readonly type: 'work'; readonly work: GraderWork };

/** Languages of code that can be run here, and why others cannot. */
export interface Abilities {
  readonly languages: readonly CodeLanguage[];
  readonly missing: Readonly<Record<string, string>>;
}

/**
 * - `failed`: the errand's own fault, or ours in a way that would come again;
 * - `unavailable`: what it grades with is away; another time it may be there.
 */
export type GraderOutcome =
  | { readonly type: 'graded'; readonly results: readonly GradeResult[] }
  | { readonly type: 'validated'; readonly report: GoldReport }
  | { readonly type: 'failed'; readonly reason: 'grader_failed' | 'invalid_data'; readonly message: string }
  | { readonly type: 'unavailable'; readonly message: string };

export type FromGrader =
  /** Said every second; `graded` counts answers since the process began: one that does not grow hangs. */
  | { readonly type: 'alive'; readonly graded: number }
  | { readonly type: 'abilities'; readonly abilities: Abilities }
  | { readonly type: 'outcome'; readonly outcome: GraderOutcome };

/** Object keys: they hold the attempt, so a runner that lost its lease overwrites nothing. */
export function checkpointPrefix(job: string, attempt: number, at: SnapshotMeta): string {
  return `jobs/${job}/a${attempt}/${at.stage_index}-${at.stage}/step-${String(at.step).padStart(6, '0')}/`;
}

export function samplesKey(
  job: string,
  attempt: number,
  at: { readonly stage: string; readonly stage_index: number; readonly step: number },
): string {
  return `jobs/${job}/a${attempt}/samples/${at.stage_index}-${at.stage}-${at.step}.jsonl`;
}
