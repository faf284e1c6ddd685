// How much accelerator memory (RAM for cpu) a model, its tuning and the lengths of a job take at least, and for what.
// Pure arithmetic of sizes: `explain` prints it and the API refuses by it what no runner could hold. Not in it: the
// process and its libraries, what a driver keeps for itself, fragmentation.
//
// Precision: everything is held in float32. On devices products cast to 16 bits on the way; frozen weights, caches and a
// copy for sampling that are held in 16 bits are designed, not built (ADR 0012): `asDesigned` reckons them.
import type { Issue } from '../issues.ts';
import type { ModelSizes } from '../model-shape.ts';
import type { Accelerator } from '../names.ts';
import {
  blockBytes,
  blockInputBytes,
  headBytes,
  hiddenEndBytes,
  paddedLength,
  wholeBlockBytes,
} from './activations.ts';
import { cacheCapacity, cacheRows, cacheTokenBytes } from './cache.ts';
import { adapterCount, parameterCount, sizesApart } from './parameters.ts';
import type { Tuning } from './parameters.ts';

/** Lengths in tokens, prompt included; 0 where nothing is trained or sampled. */
export interface Lengths {
  readonly trained: number;
  readonly sampled: number;
  /** Answers wanted at once, at most. */
  readonly sequences: number;
}

export interface MemoryLine {
  readonly name: string;
  readonly bytes: number;
  readonly what: string;
}

export interface MemoryNeed {
  readonly accelerator: Accelerator;
  readonly lines: readonly MemoryLine[];
  /** Sum of the lines: with one row of cache. */
  readonly bytes: number;
  /** The sampler decodes so many rows at once where there is room; what they take beyond the one that is counted. */
  readonly decoding: { readonly rows: number; readonly bytes: number };
}

export interface Storage {
  /** Bytes of an element of frozen weights and caches. */
  readonly elementBytes: number;
  /** Full tuning keeps a 16-bit copy of the weights for products and sampler. */
  readonly copy: boolean;
}

/** What the engine holds, on every accelerator. */
export const asBuilt: Storage = { elementBytes: 4, copy: false };
/** What it is to hold on devices. */
export const asDesigned: Storage = { elementBytes: 2, copy: true };

/** `beside`: what the job holds beside the model that it trains. */
export function memoryNeed(
  sizes: ModelSizes,
  tuning: Tuning,
  accelerator: Accelerator,
  lengths: Lengths,
  storage: Storage = asBuilt,
  beside: readonly MemoryLine[] = [],
): MemoryNeed {
  const lines = [
    ...weightLines(sizes, tuning, storage),
    ...beside,
    ...spareLines(sizes, tuning, accelerator),
    ...activationLines(sizes, lengths.trained),
    ...cacheLines(sizes, storage.elementBytes, lengths.sampled),
  ];
  const bytes = lines.reduce((total, line) => total + line.bytes, 0);
  return { accelerator, lines, bytes, decoding: decodingRows(sizes, storage.elementBytes, lengths) };
}

/** In 10^9 bytes, rounded up to a thousandth: what is compared is what is shown. */
export const gigabytes = (bytes: number): number => Math.ceil(bytes / 1e6) / 1e3;

function weightLines(sizes: ModelSizes, tuning: Tuning, { elementBytes, copy }: Storage): MemoryLine[] {
  const model = parameterCount(sizes);
  const trained = tuning.method === 'full' ? model : adapterCount(sizes, tuning);
  const whose = tuning.method === 'full' ? `${model} parameters` : `${trained} parameters of adapters`;
  const frozen = {
    name: 'frozen',
    bytes: elementBytes * model,
    what: `${model} frozen parameters, ${elementBytes === 4 ? 'F32' : '16 bits'}`,
  };
  const half = { name: 'copy', bytes: 2 * model, what: 'matrix inputs of training and sampler, 16 bits' };
  return [
    ...(tuning.method === 'lora' ? [frozen] : []),
    { name: 'weights', bytes: 4 * trained, what: `${whose}, F32` },
    { name: 'gradients', bytes: 4 * trained, what: 'F32' },
    { name: 'moments', bytes: 8 * trained, what: 'two of AdamW, F32' },
    ...(tuning.method === 'full' && copy ? [half] : []),
  ];
}

/** A weight and its two moments are updated at once. */
function spareLines(sizes: ModelSizes, tuning: Tuning, accelerator: Accelerator): MemoryLine[] {
  if (accelerator === 'cpu') return [];
  const bytes = 3 * 4 * sizesApart(sizes, tuning);
  return [{ name: 'spare', bytes, what: 'where updates in place are written on a device, F32' }];
}

function activationLines(sizes: ModelSizes, tokens: number): MemoryLine[] {
  if (tokens === 0) return [];
  const S = paddedLength(tokens);
  return [
    { name: 'block_inputs', bytes: blockInputBytes(sizes, S), what: `${sizes.layers} x ${S} tokens, F32` },
    { name: 'hidden_ends', bytes: hiddenEndBytes(sizes, S), what: 'last hidden state and two gradients' },
    { name: 'block', bytes: blockBytes(sizes, S), what: blockText(sizes, S) },
    {
      name: 'head',
      bytes: headBytes(sizes, S),
      what: sizes.scalarHead
        ? 'one value of a sequence'
        : `logits over ${sizes.vocabSize} words, a chunk of rows`,
    },
  ];
}

function blockText(sizes: ModelSizes, S: number): string {
  const whole = wholeBlockBytes(sizes, S);
  const chunked = whole > blockBytes(sizes, S) ? `, in chunks (whole: ${gigabytes(whole)} GB)` : '';
  return `one block, recomputed in its backward${chunked}`;
}

function cacheLines(sizes: ModelSizes, element: number, tokens: number): MemoryLine[] {
  if (tokens === 0) return [];
  const capacity = cacheCapacity(sizes, tokens);
  const bytes = 2 * capacity * cacheTokenBytes(sizes, element);
  return [{ name: 'cache', bytes, what: `keys and values, one row and one prompt of ${capacity} tokens` }];
}

function decodingRows(
  sizes: ModelSizes,
  element: number,
  { sampled, sequences }: Lengths,
): MemoryNeed['decoding'] {
  if (sampled === 0) return { rows: 0, bytes: 0 };
  const rows = cacheRows(sizes, sampled, sequences);
  const row = cacheCapacity(sizes, sampled) * cacheTokenBytes(sizes, element);
  return { rows, bytes: (rows - 1) * row };
}

/** What is wrong where no runner that may take the job has more than `largestGb`; undefined where one can hold it. */
export function memoryIssue(need: MemoryNeed, largestGb: number): Issue | undefined {
  if (gigabytes(need.bytes) <= largestGb) return undefined;
  const parts = need.lines
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ name, bytes }) => `${name} ${gigabytes(bytes)}`)
    .join(', ');
  const message =
    `the job needs at least ${gigabytes(need.bytes)} GB on ${need.accelerator} (most of it: ${parts}), the largest registered runner ` +
    `that it may run on has ${largestGb} GB: lower max_response or max_length, tune less, or register a larger runner; millrace explain shows the whole account`;
  return { pointer: '/resources', message };
}
