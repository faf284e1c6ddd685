// What is wrong with a spec's gates beyond their shape: stages and metrics that there are not.
import type { Fault } from './fault.ts';
import type { Gate } from './gate.ts';
import type { Stage } from './stage.ts';
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
      ...(metrics.includes(require.metric)
        ? []
        : [
            {
              path: [...at, 'require', 'metric'],
              message: `no suite of this spec measures it; there is ${metrics.join(', ') || 'no suite'}`,
            },
          ]),
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

/** Names of what a suite measures, without its modes. */
export function metricsOf(suite: Suite): string[] {
  if (suite.measure === 'average') return [`avg@${suite.k}`, ...suite.pass_at.map((j) => `pass@${j}`)];
  return suite.measure === 'points' ? ['points', 'points_share'] : [suite.measure];
}

const metricPaths = (suite: Suite): string[] =>
  (suite.modes ?? ['non_thinking']).flatMap((mode) =>
    metricsOf(suite).map((metric) => `${suite.name}.${mode}.${metric}`),
  );
