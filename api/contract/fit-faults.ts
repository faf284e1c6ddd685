// What does not go together in stages and suites beyond their shape: measures and filters ask for something of the grader, and a mixed
// stage for the domains of the suites.
import type { Fault } from './fault.ts';
import type { Grader } from './grader.ts';
import { comparesAnswers, givesOneWhereRight, hasMaximum } from './grader.ts';
import { sourcesOf } from './sources.ts';
import { isReinforced } from './stage-kinds.ts';
import type { Stage } from './stage.ts';
import type { Suite } from './suite.ts';

const nameOf = (given: Grader): string =>
  given.type === 'remote' && given.max_score !== 1 ? `remote with max_score ${given.max_score}` : given.type;

/** Of `evaluate.suites`, their path left out. */
export const suiteFaults = (suites: readonly Suite[]): Fault[] =>
  suites.flatMap((suite, index) =>
    faultsOfSuite(suite).map(({ path, message }) => ({ path: [index, ...path], message })),
  );

function faultsOfSuite(suite: Suite): Fault[] {
  switch (suite.measure) {
    case 'average':
      return passFaults(suite);
    case 'win_rate':
      return comparesAnswers(suite.grader)
        ? []
        : [
            {
              path: ['grader'],
              message: `${nameOf(suite.grader)} compares no answer with the row’s reference: win_rate takes preference, or judge with prompt "pairwise"`,
            },
          ];
    case 'points':
      return suite.grader.type === 'code'
        ? []
        : [{ path: ['grader'], message: 'points are of subtasks, which the grader code alone tells apart' }];
    case 'loss':
      return [];
  }
}

function passFaults({ k, pass_at, grader }: Extract<Suite, { measure: 'average' }>): Fault[] {
  const tooMany = pass_at.flatMap((j, at) =>
    j <= k
      ? []
      : [{ path: ['pass_at', at], message: `must be at most k (${k}): it is estimated from k samples` }],
  );
  const endless = {
    path: ['pass_at'],
    message: `${nameOf(grader)} has no maximum, which is what passing means: leave it out`,
  };
  return [...tooMany, ...(pass_at.length > 0 && !hasMaximum(grader) ? [endless] : [])];
}

/** Of a stage, its path left out. */
export function filterFaults(stage: Stage): Fault[] {
  if (!isReinforced(stage) || stage.filter.type !== 'epoch') return [];
  const graders = sourcesOf(stage).map(({ grader }) => grader);
  const cause = graders.map(whyNeverRight).find((why) => why !== undefined);
  if (cause === undefined) return [];
  const message = `"epoch" drops tasks that were all right or all wrong, and ${cause}: take {"type":"off"} or {"type":"batch"}`;
  return [{ path: ['filter'], message }];
}

/** Wrong is 0 or less. */
function whyNeverRight(given: Grader): string | undefined {
  if (!hasMaximum(given)) return `${nameOf(given)} has no maximum to be right by`;
  if (given.type !== 'remote' || given.max_score! > 0) return undefined;
  return `nothing is right by remote with max_score ${given.max_score}: 0 and less is wrong`;
}

/** Of a stage, its path left out: the bonus goes to answers that the grader gives 1, and all others are worth 0 beside it. */
export function bonusFaults(stage: Stage): Fault[] {
  if (stage.kind !== 'instruction' || stage.reward_model === undefined) return [];
  const { grader } = stage;
  if (givesOneWhereRight(grader)) return [];
  const message = `adds to the 1 of answers that follow all their instructions, and ${nameOf(grader)} gives no such 1: take grader instructions, or remote with max_score 1`;
  return [{ path: ['reward_model'], message }];
}

/** Of a stage, its path left out: what makes `mixed` the baseline of a cascade is that it leaves out no domain. */
export function coverageFaults(stage: Stage, suites: readonly Suite[]): Fault[] {
  if (stage.kind !== 'mixed') return [];
  const covered = new Set(stage.domains.map(({ domain }) => domain));
  const measured = suites
    .filter(({ measure }) => measure !== 'loss')
    .map(({ domain, name }) => domain ?? name);
  const missing = [...new Set(measured)].filter((domain) => !covered.has(domain));
  if (missing.length === 0) return [];
  const message = `must cover every domain that evaluate.suites measures, and lacks ${missing.join(', ')}: add them, or take kind multi_domain`;
  return [{ path: ['domains'], message }];
}
