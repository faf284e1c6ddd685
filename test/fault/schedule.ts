// Which faults fall, on whom, in which order and after how much progress: drawn from a seed, so that a run that went wrong can be made
// again. Every kind of fault and every process has its turn in each round; the order of a round is drawn.
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';

/** `machine`: a runner with all of its processes. */
export type Role = 'api' | 'supervisor' | 'trainer' | 'uploader' | 'grader' | 'machine';

export interface Victim {
  readonly role: Role;
  /** Which of them, from 0. */
  readonly of: number;
}

const onProcesses = ['kill', 'freeze'] as const;
const onStore = [
  'store_down',
  'store_slow',
  'store_500',
  'uploads_cut',
  'downloads_cut',
  'store_mute',
] as const;
export const faultKinds = [
  ...onProcesses,
  'database_restart',
  'sessions_terminated',
  'answers_lost',
  'clock_off',
  ...onStore,
] as const;
export type FaultKind = (typeof faultKinds)[number];
export type StoreFault = (typeof onStore)[number];
export const isOfStore = (kind: FaultKind): kind is StoreFault =>
  (onStore as readonly FaultKind[]).includes(kind);

export interface PlannedFault {
  readonly number: number;
  readonly kind: FaultKind;
  /** Absent where it is the database, the store or the network. */
  readonly victim?: Victim;
  /** It falls no sooner than so many events after the one before it fell. */
  readonly afterEvents: number;
  /** How long it lasts, as a share of the span that faults of its kind have. */
  readonly share: number;
}

export interface Site {
  readonly apis: number;
  readonly runners: number;
  /** Whether something can stand between the service and its store. */
  readonly storeProxied: boolean;
}

interface Turn {
  readonly kind: FaultKind;
  readonly role?: Role;
}

/** One round. What matters most is there more than once. */
const round: readonly Turn[] = [
  ...(['api', 'supervisor', 'trainer', 'trainer', 'uploader', 'grader', 'machine'] as const).map(
    (role): Turn => ({ kind: 'kill', role }),
  ),
  ...(['api', 'supervisor', 'supervisor', 'trainer', 'uploader', 'grader', 'machine'] as const).map(
    (role): Turn => ({ kind: 'freeze', role }),
  ),
  { kind: 'database_restart' },
  { kind: 'database_restart' },
  { kind: 'sessions_terminated' },
  { kind: 'sessions_terminated' },
  { kind: 'answers_lost' },
  { kind: 'clock_off', role: 'supervisor' },
  ...onStore.map((kind): Turn => ({ kind })),
];

/** `mostEvents` between two faults, at most. */
export function planFaults(seed: number, count: number, mostEvents: number, site: Site): PlannedFault[] {
  const draw = drawStream(drawKey(seed, 'faults', 0), 0, 0);
  let drawn = 0;
  const next = (): number => draw(drawn++);
  const turns = round.filter(({ kind }) => site.storeProxied || !isOfStore(kind));
  const planned: PlannedFault[] = [];
  while (planned.length < count) {
    const keyed = turns.map((turn) => ({ turn, key: next() })).sort((a, b) => a.key - b.key);
    for (const { turn } of keyed) {
      const { kind, role } = turn;
      const among = role === 'api' ? site.apis : site.runners;
      const of = Math.floor(next() * among);
      planned.push({
        number: planned.length + 1,
        kind,
        ...(role && { victim: { role, of } }),
        afterEvents: Math.floor(next() * (mostEvents + 1)),
        share: next(),
      });
    }
  }
  return planned.slice(0, count);
}

export const victimName = ({ role, of }: Victim): string => `${role} ${of + 1}`;

export const faultName = ({ kind, victim }: Pick<PlannedFault, 'kind' | 'victim'>): string =>
  victim === undefined ? kind : `${kind} ${victimName(victim)}`;

/** One line a fault, as it is printed before a run. */
export const faultLine = (fault: PlannedFault): string =>
  `${fault.number} ${faultName(fault)} after ${fault.afterEvents} events, share ${fault.share.toFixed(3)}`;
