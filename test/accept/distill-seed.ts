// One seed of the acceptance of distillation: the small world's cascade, what its last checkpoint has lost of the best ones, and what of
// that comes back by distillation from these and, for comparison, by as many rollouts of more reinforcement.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobEvent } from '../../api/contract/event.ts';
import { chooseCheckpoint } from '../../cli/pull/choose.ts';
import type { Values } from '../../examples/small-world/report/comparison.ts';
import { changeOf, valuesByDomain } from '../../examples/small-world/report/comparison.ts';
import type { DomainChange } from '../../examples/small-world/report/comparison.ts';
import {
  continuedSpec,
  distilledSpec,
  relapsedSpec,
} from '../../examples/small-world/run/distilled-specs.ts';
import { eventsOf } from '../../examples/small-world/run/history.ts';
import type { Run } from '../../examples/small-world/run/jobs.ts';
import { rewardModelOf, seededOf, succeeded, trainedCascade } from '../../examples/small-world/run/jobs.ts';
import { conversations, createWorld, domains } from '../../examples/small-world/world.ts';
import { heldOutCells, stageEnds } from './held-out.ts';
import { secondsOf } from './job-seconds.ts';

/** What one way on made of a domain. */
export interface Recovery {
  /** From where both ways begin. */
  readonly change: DomainChange;
  /** Of what had been lost. */
  readonly recovered: number;
}

export interface Regression {
  /** The stage whose end is the domain's best, and its teacher. */
  readonly teacher: string;
  /** From there to where both ways begin; lost for certain where the interval is below 0. */
  readonly lost: DomainChange;
  readonly counts: boolean;
  readonly distilled: Recovery;
  readonly continued: Recovery;
}

export interface DistilledSeed {
  readonly seed: number;
  /** The domain whose supervised rows the cascade's end was trained on, where it had lost nothing by itself. */
  readonly induced: string | null;
  readonly regressions: readonly Regression[];
  /** Mean of log(student / teacher) by step, of each domain. */
  readonly kl: Readonly<Record<string, readonly (number | null)[]>>;
  readonly seconds: { readonly distilled: number; readonly continued: number };
}

/** Domain whose rows make a relapse: the last that was trained, so that all others can be lost. */
const relapsesOn = 'swe';

type Measured = ReadonlyMap<string, Values>;

interface Base extends Run {
  readonly job: string;
  readonly rewardModel: string | undefined;
}

export async function distilledSeed(run: Run, folder: string): Promise<DistilledSeed> {
  const rewardModel = await rewardModelOf(run);
  const base: Base = { ...run, rewardModel, job: await trainedCascade(run, rewardModel) };
  const end = await checkpointOf(run, base.job);
  const first = await waysFrom(base, end, 'end');
  if (first.regressions.some(({ counts }) => counts)) return { seed: run.seed, induced: null, ...first };
  const relapsed = await relapsedFrom(base, end, folder);
  return { seed: run.seed, induced: relapsesOn, ...(await waysFrom(base, relapsed, 'relapsed')) };
}

/** Both ways on from checkpoint `start`; `part` tells their jobs from those that begin elsewhere. */
async function waysFrom(
  base: Base,
  start: string,
  part: string,
): Promise<Omit<DistilledSeed, 'seed' | 'induced'>> {
  const { job, rewardModel } = base;
  const from = { checkpoint: start, rewardModel };
  const [byTeacher, byReward] = [seededOf(base, `${part}.distilled`), seededOf(base, `${part}.continued`)];
  const distilled = await succeeded(base, byTeacher.labels, () =>
    distilledSpec(base.world, byTeacher, { ...from, job }),
  );
  const before = await measured(base, part, start);
  const events = await eventsOf(base.client, distilled);
  const bests = await bestsOf(base, events);
  const lost = new Map<string, DomainChange>();
  for (const [domain, { stage, checkpoint }] of bests)
    lost.set(domain, change(domain, await measured(base, stage, checkpoint), before));
  const afterTeacher = await measured(base, `${part}.distilled`, await checkpointOf(base, distilled));
  const continued = await succeeded(base, byReward.labels, () => continuedSpec(base.world, byReward, from));
  const afterReward = await measured(base, `${part}.continued`, await checkpointOf(base, continued));
  const recovery = (domain: string, after: Measured): Recovery => {
    const gained = change(domain, before, after);
    return { change: gained, recovered: gained.change / -lost.get(domain)!.change };
  };
  return {
    regressions: [...lost].map(([domain, loss]) => ({
      teacher: bests.get(domain)!.stage,
      lost: loss,
      counts: loss.high < 0,
      distilled: recovery(domain, afterTeacher),
      continued: recovery(domain, afterReward),
    })),
    kl: klByDomain(events),
    seconds: { distilled: await secondsOf(base, distilled), continued: await secondsOf(base, continued) },
  };
}

const checkpointOf = async ({ client }: Run, job: string): Promise<string> =>
  (await chooseCheckpoint(client, job)).id;

const measured = async (base: Base, part: string, checkpoint: string): Promise<Measured> =>
  valuesByDomain(await heldOutCells(base, part, checkpoint, base.rewardModel));

const change = (domain: string, from: Measured, to: Measured): DomainChange =>
  changeOf(domain, from.get(domain)!, to.get(domain)!);

/** Each domain's teacher, as the job's own event names it. */
async function bestsOf(
  base: Base,
  events: readonly JobEvent[],
): Promise<ReadonlyMap<string, { readonly stage: string; readonly checkpoint: string }>> {
  const ends = await stageEnds(base, base.job);
  const told = events.flatMap(({ body }) => (body.type === 'teachers' ? body.teachers : []));
  return new Map(
    told.map(({ domain, teacher }) => {
      const end = ends.find(({ id }) => id === teacher);
      if (end === undefined)
        throw new Error(`the teacher ${teacher} of ${domain} is no end of a stage of ${base.job}`);
      return [domain, { stage: end.stage, checkpoint: end.id }] as const;
    }),
  );
}

/** The end of supervised steps on one domain's rows alone. */
async function relapsedFrom(base: Base, checkpoint: string, folder: string): Promise<string> {
  const seeded = seededOf(base, 'relapsed');
  const job = await succeeded(base, seeded.labels, () => {
    mkdirSync(folder, { recursive: true });
    const data = join(folder, `sft-${relapsesOn}.jsonl`);
    writeFileSync(
      data,
      relapseRows()
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    return relapsedSpec(base.world, seeded, { checkpoint, rewardModel: base.rewardModel, data });
  });
  return checkpointOf(base, job);
}

/** Conversations come domain by domain. */
function relapseRows(): object[] {
  const at = domains.findIndex(({ name }) => name === relapsesOn);
  const first = domains.slice(0, at).reduce((sum, { supervised }) => sum + supervised, 0);
  return conversations(createWorld()).slice(first, first + domains[at]!.supervised);
}

function klByDomain(events: readonly JobEvent[]): Record<string, (number | null)[]> {
  const steps = events.flatMap(({ body }) => (body.type === 'step' ? [body.metrics] : []));
  const keys = Object.keys(steps[0] ?? {}).filter((key) => key.endsWith('.kl'));
  return Object.fromEntries(
    keys.map((key) => [key.slice(0, -'.kl'.length), steps.map((metrics) => metrics[key] ?? null)]),
  );
}
