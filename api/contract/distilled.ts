// What a distill stage takes from the stages before it: domains, and data, modes and graders of those that say none. And what is wrong
// with a stage that cannot be filled so, or whose teachers there are not.
import type { Fault, Path } from './fault.ts';
import type { TaskSource } from './sources.ts';
import { sourcesOf } from './sources.ts';
import { isReinforced } from './stage-kinds.ts';
import type { Stage } from './stage.ts';
import type { DistilledDomain, DistillStage, Teacher } from './stages/distill.ts';
import { distilledDomain } from './stages/distill.ts';
import type { Suite } from './suite.ts';
import { isOutside } from './teachers.ts';

/** Everything but `kind` and `steps`: a stage, or the repair of a gate. */
type Distilling = Pick<
  DistillStage,
  'domains' | 'objective' | 'rollouts' | 'prompt_format' | 'prompts_per_step'
>;

export interface FilledDomain extends DistilledDomain {
  /** Undefined where no stage before gives any: a fault. */
  readonly data: string | undefined;
}

const rewardWeightOf = ({ objective }: Distilling): number =>
  objective.type === 'policy_gradient' ? objective.reward_weight : 0;

/** Faults are looked for in specs that have others: the name of a domain need not be one. */
const defaultDomain = distilledDomain.parse({ domain: 'any' });

/** `before`: the stages of the job before it, as posted, in their order. */
export function filledDomains(stage: Distilling, before: readonly Stage[]): FilledDomain[] {
  const trained = lastSources(before);
  const domains = stage.domains ?? [...trained.keys()].map((domain) => ({ ...defaultDomain, domain }));
  return domains.map((given) => {
    const source = trained.get(given.domain);
    const grader = rewardWeightOf(stage) > 0 ? (given.grader ?? source?.grader) : undefined;
    return {
      ...given,
      data: given.data ?? source?.data,
      ...optional('mode', given.mode ?? source?.mode),
      ...optional('grader', grader),
    };
  });
}

const optional = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);

/** By domain, of the stage that trains it last. */
const lastSources = (before: readonly Stage[]): ReadonlyMap<string, TaskSource> =>
  new Map(
    before
      .filter(isReinforced)
      .flatMap(sourcesOf)
      .map((source) => [source.domain, source]),
  );

export interface DistilledContext {
  readonly before: readonly Stage[];
  readonly suites: readonly Suite[];
}

/** Of a stage, its path left out. */
export function distilledFaults(stage: Distilling, context: DistilledContext): Fault[] {
  const domains = filledDomains(stage, context.before);
  if (domains.length === 0)
    return [
      {
        path: ['domains'],
        message:
          'no stage before this one trains a domain by rewards: say which domains, with data and a teacher each',
      },
    ];
  const ofDomains = domains.flatMap((domain, index) =>
    domainFaults(stage, domain, index, context).map(({ path, message }) => ({
      // Of domains that are not posted the list itself.
      path: stage.domains === undefined ? ['domains'] : ['domains', index, ...path],
      message: stage.domains === undefined ? `${domain.domain}: ${message}` : message,
    })),
  );
  return [...groupFaults(stage), ...inheritedModeFaults(stage, domains), ...ofDomains];
}

const groupFaults = (stage: Distilling): Fault[] =>
  rewardWeightOf(stage) > 0 && stage.rollouts < 2
    ? [
        {
          path: ['rollouts'],
          message: 'must be at least 2: reward_weight normalises rewards within the rollouts of a prompt',
        },
      ]
    : [];

/** Of modes that the stage itself does not say, which its own rules (stages/distill.ts) and those of modes.ts do not see. */
function inheritedModeFaults(stage: Distilling, domains: readonly FilledDomain[]): Fault[] {
  const asking = domains.filter(
    ({ mode }, index) => mode !== undefined && stage.domains?.[index]?.mode === undefined,
  );
  const [first] = asking;
  const halved = asking.find(({ mode }) => mode === 'half_half');
  return [
    ...(first !== undefined && stage.prompt_format === 'raw'
      ? [
          {
            path: ['prompt_format'],
            message: `raw prompts ask for no mode, and ${first.domain} asks for ${first.mode!}, as the stage before this one that trains it: give another prompt_format`,
          },
        ]
      : []),
    ...(halved !== undefined && stage.prompts_per_step % 2 === 1
      ? [
          {
            path: ['prompts_per_step'],
            message: `must be even: the mode of ${halved.domain} is half_half, as in the stage before this one that trains it`,
          },
        ]
      : []),
  ];
}

function domainFaults(
  stage: Distilling,
  { domain, data, teacher, grader }: FilledDomain,
  index: number,
  context: DistilledContext,
): Fault[] {
  const faults: Fault[] = [];
  const fault = (path: Path, message: string): void => void faults.push({ path, message });
  if (data === undefined)
    fault(
      ['data'],
      `no stage before this one trains the domain ${domain}: name a dataset whose prompts it answers`,
    );
  const weight = rewardWeightOf(stage);
  if (weight > 0 && grader === undefined)
    fault(
      ['grader'],
      `reward_weight needs a grader, and no stage before this one trains the domain ${domain}: give one`,
    );
  if (weight === 0 && stage.domains?.[index]?.grader !== undefined)
    fault(
      ['grader'],
      'goes with an objective policy_gradient whose reward_weight is above 0, and only with it',
    );
  const cause = teacherFault(teacher, domain, context);
  if (cause !== undefined) fault(['teacher'], cause);
  return faults;
}

function teacherFault(
  teacher: Teacher,
  domain: string,
  { before, suites }: DistilledContext,
): string | undefined {
  if (isOutside(teacher)) return undefined;
  const names = before.map(({ name, kind }) => name ?? kind);
  if (names.length === 0)
    return `there is no stage before this one for ${JSON.stringify(teacher)} to choose from: name a checkpoint, a uri, or from_job`;
  if (teacher !== 'best') {
    const stage = teacher.slice('stage:'.length);
    return names.includes(stage)
      ? undefined
      : `no stage that runs before this one is named ${stage}: ${names.join(', ')}; the model before the first stage is named as a checkpoint or a uri`;
  }
  const measured = [...new Set(suites.map((suite) => suite.domain ?? suite.name))];
  return measured.includes(domain)
    ? undefined
    : `best is chosen by the suites of the domain, and no suite of evaluate.suites measures ${domain} (there is ${measured.join(', ') || 'none'}): add one with domain "${domain}", or name the teacher as stage:NAME`;
}
