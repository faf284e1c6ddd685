// What is wrong with a spec's gates beyond their shape: stages and metrics that there are not.
import { pathOf } from './fault.ts';
import type { Fault, Path } from './fault.ts';
import type { Gate } from './gate.ts';
import { name } from './names.ts';
import type { Stage } from './stage.ts';
import { cascadeStages } from './stages-of.ts';
import type { CascadeStages } from './stages-of.ts';
import type { Suite } from './suite.ts';

export interface GatedSpec {
  readonly stages: readonly Stage[];
  readonly gates: readonly Gate[];
  readonly evaluate: { readonly suites: readonly Suite[] };
}

export function gateFaults({ stages, gates, evaluate }: GatedSpec): Fault[] {
  const names = stages.map(({ name, kind }) => name ?? kind);
  const metrics = evaluate.suites.flatMap(metricPaths);
  return gates.flatMap(({ after, require }, index) => {
    const at = ['gates', index];
    const end = names.indexOf(after);
    const before = ['initial', ...names.slice(0, Math.max(0, end))];
    return [
      ...(end < 0
        ? [{ path: [...at, 'after'], message: `no stage has this name: ${names.join(', ')}` }]
        : []),
      ...unmeasured(require.metric, metrics, [...at, 'require', 'metric']),
      ...(require.since === undefined || before.includes(require.since)
        ? []
        : [
            {
              path: [...at, 'require', 'since'],
              message: `must come before ${after}: ${before.join(', ')}`,
            },
          ]),
    ];
  });
}

const unmeasured = (metric: string, metrics: readonly string[], path: Path): Fault[] =>
  metrics.includes(metric)
    ? []
    : [{ path, message: `no suite of this spec measures it; there is ${metrics.join(', ') || 'no suite'}` }];

/** Of the metric by which a checkpoint is kept, where there is one. */
export const bestFaults = (metric: string | undefined, suites: readonly Suite[]): Fault[] =>
  metric === undefined
    ? []
    : unmeasured(metric, suites.flatMap(metricPaths), ['checkpoints', 'keep_best', 'metric']);

/** Of the stages that repair: one for each stage, under a name of its own. What distils in them distilled.ts looks at. */
export function repairFaults(spec: CascadeStages): Fault[] {
  const stages = cascadeStages(spec);
  const names = stages.map(({ stage }) => stage.name ?? stage.kind);
  const ofNames = stages.flatMap(({ pointer, repairs }, index): Fault[] => {
    if (repairs === undefined) return [];
    const given = names[index]!;
    const path = [...pathOf(pointer), 'name'];
    if (!name.safeParse(given).success)
      return [{ path, message: `${given} would be its name, which is too long: give it a shorter one` }];
    // Of two repairs the later one is named.
    const taken = names.some(
      (other, at) => other === given && (at < index || (at > index && stages[at]!.repairs === undefined)),
    );
    return taken ? [{ path, message: `a stage has the name ${given} already: give the repair another` }] : [];
  });
  return [...ofNames, ...doubledRepairs(spec.gates)];
}

const doubledRepairs = (gates: readonly Gate[]): Fault[] =>
  gates.flatMap(({ after, repair }, index) => {
    const first = gates.findIndex((gate) => gate.after === after && gate.repair !== undefined);
    if (repair === undefined || first === index) return [];
    const message = `gates after ${after} share one repair, which gate ${first} gives: leave it out here`;
    return [{ path: ['gates', index, 'repair'], message }];
  });

/** Names of what a suite measures, without its modes. */
export function metricsOf(suite: Suite): string[] {
  if (suite.measure === 'average') return [`avg@${suite.k}`, ...suite.pass_at.map((j) => `pass@${j}`)];
  return suite.measure === 'points' ? ['points', 'points_share'] : [suite.measure];
}

const metricPaths = (suite: Suite): string[] =>
  (suite.modes ?? ['non_thinking']).flatMap((mode) =>
    metricsOf(suite).map((metric) => `${suite.name}.${mode}.${metric}`),
  );
