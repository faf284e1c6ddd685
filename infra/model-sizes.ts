// Which models fit on a GPU of which size, by the memory arithmetic alone: the tables of decisions/0012, which a test
// holds to this. `node infra/model-sizes.ts` prints them.
import { asBuilt, asDesigned, memoryNeed } from '../api/contract/memory/need.ts';
import type { Storage } from '../api/contract/memory/need.ts';
import type { Tuning } from '../api/contract/memory/parameters.ts';
import { parameterCount } from '../api/contract/memory/parameters.ts';
import { loraModules } from '../api/contract/tuning.ts';
import type { ModelSizes } from '../api/contract/model-shape.ts';
import { publishedModels } from './published-models.ts';

/** GB as devices are sold. */
const gpuSizes = [8, 12, 16, 24, 40, 48, 80, 96, 141, 192] as const;

/** What driver, libraries and fragmentation take is not in the arithmetic. */
const usableShare = 0.9;
/** Of answers decoded together: 8 of 4K, or 2 of 16K. */
const cacheTokens = 32_768;

const full: Tuning = { method: 'full' };
const lora: Tuning = { method: 'lora', rank: 64, target_modules: loraModules };

interface Column {
  readonly title: string;
  readonly bytes: (sizes: ModelSizes) => number;
}

/** Training and sampling of sequences of `tokens`, prompt included. */
function needed(sizes: ModelSizes, tuning: Tuning, tokens: number, storage: Storage = asBuilt): number {
  const lengths = { trained: tokens, sampled: tokens, sequences: cacheTokens / tokens };
  const need = memoryNeed(sizes, tuning, 'cuda', lengths, storage);
  return need.bytes + need.decoding.bytes;
}

const columns: readonly Column[] = [
  { title: 'full, 4K', bytes: (sizes) => needed(sizes, full, 4096) },
  { title: 'full, 16K', bytes: (sizes) => needed(sizes, full, 16_384) },
  { title: 'LoRA r64, 4K', bytes: (sizes) => needed(sizes, lora, 4096) },
  { title: 'LoRA r64, 16K', bytes: (sizes) => needed(sizes, lora, 16_384) },
  {
    title: 'LoRA r64, 4K, base and caches in 16 bits (not built)',
    bytes: (sizes) => needed(sizes, lora, 4096, asDesigned),
  },
  {
    title: 'full, 4K, moments on the host (not built)',
    bytes: (sizes) => needed(sizes, full, 4096) - 8 * parameterCount(sizes),
  },
];

function markdown(header: readonly string[], body: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** GB that each model needs. */
export const needTable = (): string =>
  markdown(
    ['model', ...columns.map(({ title }) => title)],
    Object.entries(publishedModels).map(([name, sizes]) => [
      name,
      ...columns.map(({ bytes }) => (bytes(sizes) / 1e9).toFixed(1)),
    ]),
  );

/** The largest model that each size of GPU holds. */
export const gpuTable = (): string =>
  markdown(
    ['GPU, GB', ...columns.map(({ title }) => title)],
    gpuSizes.map((gb) => [String(gb), ...columns.map((column) => largestFor(gb, column))]),
  );

function largestFor(gb: number, { bytes }: Column): string {
  const fitting = Object.entries(publishedModels).filter(
    ([, sizes]) => bytes(sizes) <= usableShare * gb * 1e9,
  );
  return fitting.at(-1)?.[0] ?? 'none of these';
}

/** GB of the GPUs that several are reckoned of. */
const shardedOn = [24, 80, 141] as const;
const mostGpus = 64;
/** What each device needs for itself however a model is cut. */
const ofEachDevice = new Set(['hidden_ends', 'block', 'head']);

/**
 * Bytes of each of `gpus` devices in full tuning at 4K. Layers: each holds its share of blocks, their inputs and caches.
 * Optimizer: each holds the 16-bit copy, activations and cache whole, and its share of weights, gradients and moments.
 */
function ofEach(sizes: ModelSizes, gpus: number, cut: 'layers' | 'optimizer'): number {
  const lengths = { trained: 4096, sampled: 4096, sequences: cacheTokens / 4096 };
  const { lines, decoding } = memoryNeed(sizes, full, 'cuda', lengths, asDesigned);
  const shared = new Set(['weights', 'gradients', 'moments']);
  const isCut = (name: string): boolean => (cut === 'layers' ? !ofEachDevice.has(name) : shared.has(name));
  const bytes = lines.reduce((total, line) => total + line.bytes / (isCut(line.name) ? gpus : 1), 0);
  return bytes + decoding.bytes / (cut === 'layers' ? gpus : 1);
}

function gpusFor(sizes: ModelSizes, gb: number, cut: 'layers' | 'optimizer'): string {
  for (let gpus = 1; gpus <= mostGpus; gpus += 1)
    if (gpus <= sizes.layers && ofEach(sizes, gpus, cut) <= usableShare * gb * 1e9) return String(gpus);
  return `none up to ${mostGpus}`;
}

/** How many GPUs full tuning at 4K would take, cut by layers / with a sharded optimizer. */
export const severalTable = (): string =>
  markdown(
    ['model', ...shardedOn.map((gb) => `GPUs of ${gb} GB`)],
    Object.entries(publishedModels).map(([name, sizes]) => [
      name,
      ...shardedOn.map((gb) => `${gpusFor(sizes, gb, 'layers')} / ${gpusFor(sizes, gb, 'optimizer')}`),
    ]),
  );

if (process.argv[1] === import.meta.filename)
  console.log(`${gpuTable()}\n\n${needTable()}\n\n${severalTable()}`);
