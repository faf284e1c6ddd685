// What a job's own history says about the promises: numbers without a gap, one end and nothing after it, legal moves only, and not a
// word of an attempt that has ended. Pure, so that a test can prove that each breach is seen.
import type { EventBody } from '../../../api/contract/event.ts';
import type { JobState } from '../../../api/contract/job.ts';
import { isTerminal } from '../../../api/contract/job.ts';
import { heldStates, isLegalMove } from '../../../db/states.ts';

export interface HistoryEvent {
  readonly seq: number;
  readonly attempt: number;
  readonly body: EventBody;
}

export interface HistoryAttempt {
  readonly attempt: number;
  readonly outcome: string | null;
}

export interface History {
  readonly id: string;
  readonly state: JobState;
  readonly eventSeq: number;
  readonly attempt: number;
  /** In the order of their numbers. */
  readonly events: readonly HistoryEvent[];
  readonly attempts: readonly HistoryAttempt[];
}

const isHeld = (state: JobState): boolean => (heldStates as readonly JobState[]).includes(state);

/** One sentence for each breach. */
export function breachesOf(job: History): string[] {
  return [...numbersOf(job), ...endsOf(job), ...attemptsOf(job), ...new Walk(job.id).through(job.events)];
}

function numbersOf({ id, events, eventSeq }: History): string[] {
  const breaches: string[] = [];
  const gap = events.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0)
    breaches.push(`${id}: event ${gap + 1} is missing or double: it is numbered ${events[gap]!.seq}`);
  if (events.length !== eventSeq)
    breaches.push(`${id}: ${events.length} events, and the job says ${eventSeq}`);
  return breaches;
}

function endsOf({ id, state, events }: History): string[] {
  const ends = events.filter(({ body }) => body.type === 'state' && isTerminal(body.to));
  if (!isTerminal(state)) return ends.length === 0 ? [] : [`${id}: it has ended, and is ${state}`];
  const [end] = ends;
  if (ends.length !== 1) return [`${id}: is ${state} and has ${ends.length} terminal events`];
  const breaches = events.at(-1) === end ? [] : [`${id}: events follow its end`];
  if (end!.body.type === 'state' && end!.body.to !== state)
    breaches.push(`${id}: is ${state}, and its last event says ${end!.body.to}`);
  return breaches;
}

function attemptsOf({ id, state, attempt, attempts }: History): string[] {
  const breaches: string[] = [];
  const numbers = attempts.map((one) => one.attempt).join();
  const wanted = Array.from({ length: attempt }, (_, index) => index + 1).join();
  if (numbers !== wanted) breaches.push(`${id}: attempts ${numbers}, and the job counts ${attempt}`);
  const open = attempts.filter(({ outcome }) => outcome === null).length;
  if (open !== (isHeld(state) ? 1 : 0))
    breaches.push(`${id}: is ${state} with ${open} attempts that have no end`);
  const won = attempts.filter(({ outcome }) => outcome === 'succeeded');
  if (won.length > 1) breaches.push(`${id}: attempts ${won.map((one) => one.attempt).join()} all succeeded`);
  if (state === 'succeeded' && won[0]?.attempt !== attempt)
    breaches.push(`${id}: its last attempt did not succeed`);
  return breaches;
}

/** Follows the history event by event. */
class Walk {
  readonly #id: string;
  readonly #breaches: string[] = [];
  #state: JobState | null = null;
  #last = 0;
  /** The attempt that may speak now. */
  #speaks: number | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  through(events: readonly HistoryEvent[]): string[] {
    for (const event of events) this.#meet(event);
    return this.#breaches;
  }

  #meet({ seq, attempt, body }: HistoryEvent): void {
    const say = (what: string): void =>
      void this.#breaches.push(`${this.#id}: event ${seq} (${body.type}): ${what}`);
    if (attempt < this.#last) say(`of attempt ${attempt}, after one of attempt ${this.#last}`);
    this.#last = Math.max(this.#last, attempt);
    if (body.type === 'state') return this.#move(body, say);
    if (body.type === 'attempt_started') {
      if (this.#speaks !== undefined) say(`attempt ${this.#speaks} has not ended`);
      this.#speaks = attempt;
      return;
    }
    if (this.#speaks !== attempt) say(`attempt ${attempt} holds the job no more`);
    if (body.type === 'attempt_failed') this.#speaks = undefined;
  }

  #move({ from, to }: Extract<EventBody, { type: 'state' }>, say: (what: string) => void): void {
    if (from !== this.#state) say(`from ${from}, and it was ${this.#state}`);
    const legal = from === null ? to === 'queued' : isLegalMove(from, to);
    if (!legal) say(`no move from ${from} to ${to}`);
    this.#state = to;
    if (!isHeld(to)) this.#speaks = undefined;
  }
}
