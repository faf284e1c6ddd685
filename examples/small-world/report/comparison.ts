// What each RL stage did to every domain on held-out tasks: the same tasks before it and after it, task by task. Pure.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { StageRecord } from './record.ts';
import { mean } from '../../../runner/cascade/mean.ts';
import { pairedBootstrap } from './paired-bootstrap.ts';

/** Held-out cells of the checkpoint at a stage's end. */
export interface HeldOut {
  readonly after: string;
  readonly cells: readonly EvaluationCell[];
}

export interface DomainChange {
  readonly domain: string;
  readonly tasks: number;
  readonly before: number;
  readonly after: number;
  /** After less before, with its paired 95 % interval over tasks. */
  readonly change: number;
  readonly low: number;
  readonly high: number;
}

export interface StageEffect {
  readonly stage: string;
  readonly own: DomainChange;
  readonly others: readonly DomainChange[];
}

/** One a task of a domain: the mean over the domain's suites and modes; null where nothing was scored. */
export type Values = readonly (number | null)[];

/** `heldOut` in the order of the stages; every RL stage has one before it. */
export function effectsOf(stages: readonly StageRecord[], heldOut: readonly HeldOut[]): StageEffect[] {
  return effectsOfValues(
    stages,
    heldOut.map(({ after, cells }) => ({ after, values: valuesByDomain(cells) })),
  );
}

/** Over seeds: the mean over seeds of each task's value, so that the interval is over tasks. */
export function effectsOverSeeds(
  stages: readonly StageRecord[],
  seeds: readonly (readonly HeldOut[])[],
): StageEffect[] {
  const [first = []] = seeds;
  const pooled = first.map(({ after }, at) => {
    const each = seeds.map((heldOut) => valuesByDomain(heldOut[at]!.cells));
    const domains = [...each[0]!.keys()];
    return {
      after,
      values: new Map(domains.map((domain) => [domain, meanOf(each.map((one) => one.get(domain)!))])),
    };
  });
  return effectsOfValues(stages, pooled);
}

interface Measured {
  readonly after: string;
  readonly values: ReadonlyMap<string, Values>;
}

function effectsOfValues(stages: readonly StageRecord[], measured: readonly Measured[]): StageEffect[] {
  return stages
    .filter(({ reinforced }) => reinforced)
    .map((stage) => {
      const at = measured.findIndex(({ after }) => after === stage.name);
      const [before, after] = [measured[at - 1], measured[at]];
      if (before === undefined || after === undefined)
        throw new Error(`stage ${stage.name} was not evaluated on both sides`);
      const changes = [...after.values.keys()].map((domain) =>
        changeOf(domain, before.values.get(domain) ?? [], after.values.get(domain)!),
      );
      const own = changes.find(({ domain }) => domain === stage.domain);
      if (own === undefined)
        throw new Error(`no suite measures ${stage.domain}, the domain of stage ${stage.name}`);
      return { stage: stage.name, own, others: changes.filter((change) => change !== own) };
    });
}

export function valuesByDomain(cells: readonly EvaluationCell[]): Map<string, Values> {
  const domains = new Map<string, Values[]>();
  for (const { domain, values, suite, metric } of cells) {
    if (!metric.startsWith('avg@')) continue;
    if (values === undefined) throw new Error(`suite ${suite}: no values of its tasks were kept`);
    domains.set(domain, [...(domains.get(domain) ?? []), values]);
  }
  return new Map([...domains].map(([domain, each]) => [domain, meanOf(each)]));
}

/** Task by task; lists of one domain are of the same tasks. */
function meanOf(each: readonly Values[]): Values {
  const [first = []] = each;
  if (each.some(({ length }) => length !== first.length))
    throw new Error('the suites of a domain are of different tasks: they cannot be paired');
  return first.map((_, task) => {
    const scored = each.flatMap((values) => values[task] ?? []);
    return scored.length === 0 ? null : mean(scored);
  });
}

export function changeOf(domain: string, before: Values, after: Values): DomainChange {
  const pairs = after.flatMap((value, task) => {
    const former = before[task];
    return value === null || former === null || former === undefined ? [] : [[former, value] as const];
  });
  const { value: change, low, high } = pairedBootstrap(pairs.map(([from, to]) => to - from));
  return {
    domain,
    tasks: pairs.length,
    before: mean(pairs.map(([from]) => from)),
    after: mean(pairs.map(([, to]) => to)),
    ...{ change, low, high },
  };
}
