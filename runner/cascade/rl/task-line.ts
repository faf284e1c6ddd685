// The tasks of one source as an endless line: epoch after epoch, each in an order of its own (runner/data/order.ts), less what the
// epoch filter keeps out. Where it stands is a stage's carried state; batches that a step did not finish are taken from a copy.
import { z } from 'zod';
import type { OrderKey } from '../../data/order.ts';
import { epochOrder } from '../../data/order.ts';
import { drawKey, drawStream } from '../../engine/random/draws.ts';
import { isListed } from './epoch-filter.ts';
import type { EpochFilter, Standing } from './epoch-filter.ts';

const codes: readonly Standing[] = ['open', 'right', 'wrong'];

const filtered = z.strictObject({
  standings: z
    .string()
    .regex(/^[012]*$/)
    .describe('a digit a row: open, right, wrong'),
  listed: z
    .string()
    .regex(/^[01]*$/)
    .describe('a digit a row: 1 where this epoch lists it'),
});

export const taskLineState = z.strictObject({
  domain: z.string(),
  epoch: z.number().int().min(0),
  place: z.number().int().min(0).describe('of the next task among those that the epoch lists'),
  filtered: filtered.optional(),
});
export type TaskLineState = z.infer<typeof taskLineState>;

export interface TaskLineOptions extends Omit<OrderKey, 'epoch'> {
  readonly domain: string;
  readonly filter: EpochFilter | undefined;
}

/** By row. */
interface Filtered {
  readonly standings: Uint8Array;
  readonly listed: Uint8Array;
}

export class TaskLine {
  readonly #options: TaskLineOptions;
  #epoch: number;
  #place: number;
  #filtered: Filtered | undefined;
  /** Of this epoch, once asked for. */
  #list: Uint32Array | undefined;

  /** From the start, or from `state`, which `misfitOf` finds nothing wrong with. */
  constructor(options: TaskLineOptions, state?: TaskLineState) {
    this.#options = options;
    this.#epoch = state?.epoch ?? 0;
    this.#place = state?.place ?? 0;
    const { rows, filter } = options;
    if (rows < 1) throw new Error(`internal: domain ${options.domain} has no task`);
    if (filter === undefined) return;
    this.#filtered = {
      standings: digitsOf(state?.filtered?.standings) ?? new Uint8Array(rows),
      listed: digitsOf(state?.filtered?.listed) ?? new Uint8Array(rows).fill(1),
    };
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Tasks that the epoch lists. */
  get listed(): number {
    return this.#tasks().length;
  }

  get state(): TaskLineState {
    const { standings, listed } = this.#filtered ?? {};
    return {
      domain: this.#options.domain,
      epoch: this.#epoch,
      place: this.#place,
      ...(standings && listed && { filtered: { standings: standings.join(''), listed: listed.join('') } }),
    };
  }

  copy(): TaskLine {
    const copy = new TaskLine(this.#options);
    copy.#epoch = this.#epoch;
    copy.#place = this.#place;
    copy.#list = this.#list;
    copy.#filtered = this.#filtered && {
      standings: this.#filtered.standings.slice(),
      listed: this.#filtered.listed,
    };
    return copy;
  }

  /** The next `count` tasks; fewer only where the epoch that begins lists none. */
  take(count: number): number[] {
    const taken: number[] = [];
    while (taken.length < count) {
      if (this.#place >= this.#tasks().length) this.#beginEpoch();
      const left = this.#tasks().slice(this.#place, this.#place + count - taken.length);
      if (left.length === 0) break;
      taken.push(...left);
      this.#place += left.length;
    }
    return taken;
  }

  /** What a visit showed of a task. */
  visited(task: number, standing: Standing): void {
    if (this.#filtered !== undefined) this.#filtered.standings[task] = codes.indexOf(standing);
  }

  #beginEpoch(): void {
    const { seed, stage, rows, filter } = this.#options;
    this.#epoch += 1;
    this.#place = 0;
    this.#list = undefined;
    if (filter === undefined || this.#filtered === undefined) return;
    const { standings } = this.#filtered;
    const draw = drawStream(drawKey(seed, `readmit/${stage}`, this.#epoch), 0, 0);
    const listed = Uint8Array.from({ length: rows }, (_, row) =>
      isListed(codes[standings[row]!]!, draw(row), filter) ? 1 : 0,
    );
    this.#filtered = { standings, listed };
  }

  #tasks(): Uint32Array {
    if (this.#list !== undefined) return this.#list;
    const { seed, stage, rows } = this.#options;
    const order = epochOrder({ seed, stage, rows, epoch: this.#epoch });
    const listed = this.#filtered?.listed;
    return (this.#list = listed === undefined ? order : order.filter((row) => listed[row] === 1));
  }
}

const digitsOf = (digits: string | undefined): Uint8Array | undefined =>
  digits === undefined ? undefined : Uint8Array.from(digits, Number);

/** Why a line with these options cannot go on from `state`. */
export function misfitOf(
  { domain, rows, filter }: TaskLineOptions,
  state: TaskLineState,
): string | undefined {
  if (state.domain !== domain) return `it is of domain ${state.domain}, the stage's is ${domain}`;
  const { filtered: of } = state;
  if ((of === undefined) !== (filter === undefined)) return `domain ${domain}: its filter is another`;
  if (of === undefined) return state.place > rows ? `domain ${domain} has ${rows} rows only` : undefined;
  const fits = of.standings.length === rows && of.listed.length === rows;
  return fits ? undefined : `domain ${domain}: it is of ${of.standings.length} rows, the dataset has ${rows}`;
}
