// What `explain` says of a spec, as data: the expanded spec with its defaults and their sources, lengths, tokens of a step, memory on each
// accelerator, and which registered runners could hold it.
import type { Client } from '../../api/client.ts';
import { defaultsOf } from '../../api/contract/default-sources.ts';
import { filledSpec } from '../../api/contract/expand.ts';
import { headIssues } from '../../api/contract/heads.ts';
import type { Issue } from '../../api/contract/issues.ts';
import { lengthIssues, lengthsOf, stepTokens } from '../../api/contract/memory/lengths.ts';
import type { MemoryNeed } from '../../api/contract/memory/need.ts';
import { gigabytes, memoryIssue } from '../../api/contract/memory/need.ts';
import { parameterCount } from '../../api/contract/memory/parameters.ts';
import { specNeed } from '../../api/contract/memory/spec-need.ts';
import { accelerator } from '../../api/contract/names.ts';
import type { JobSpec, JobSpecInput, PresetSpecInput } from '../../api/contract/spec.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { runnersFor } from '../runners-for.ts';
import { knownModel, knownRewardModels, knownTeachers } from './model.ts';

export type Explanation = Awaited<ReturnType<typeof explain>>;

/** `client`: undefined where no service answers; what only it knows is then null. */
export async function explain(posted: JobSpecInput | PresetSpecInput, client: Client | undefined) {
  const spec = jobSpec.parse(posted);
  const { omitted = [], ...expanded } = filledSpec(spec);
  const { sizes, positions, missing } = await knownModel(spec, client);
  const { trained, sampled, limits } = lengthsOf(spec, positions);
  const rewardModels = await knownRewardModels(spec, client);
  const teachers = await knownTeachers(spec, client);
  const needs =
    sizes === undefined
      ? []
      : accelerator.options.map((kind) =>
          specNeed(spec, sizes, { accelerator: kind, rewardModels, teachers }),
        );
  const need = needs.find((one) => one.accelerator === spec.resources.accelerator);
  const runners = client === undefined ? null : await fittingRunners(client, spec, need);
  return {
    schema: 1,
    spec: expanded,
    defaults: defaultsOf(posted, expanded),
    omitted,
    model: sizes === undefined ? null : { ...sizes, parameters: parameterCount(sizes) },
    missing: missing ?? null,
    lengths: { trained, sampled, limits },
    steps: stepTokens(spec, positions),
    issues: [
      ...headIssues(spec, sizes, { rewardModels, teachers }),
      ...(positions === undefined ? [] : lengthIssues(spec, positions)),
      ...memoryIssues(need, runners ?? []),
    ],
    memory: needs,
    runners,
  };
}

/** As the service judges: with no runner registered a job waits for one. */
function memoryIssues(need: MemoryNeed | undefined, runners: readonly RunnerFit[]): Issue[] {
  if (need === undefined || runners.length === 0) return [];
  const issue = memoryIssue(need, Math.max(...runners.map(({ memory_gb }) => memory_gb)));
  return issue === undefined ? [] : [issue];
}

export interface RunnerFit {
  readonly name: string;
  readonly memory_gb: number;
  readonly alive: boolean;
  /** null: the need is not known. */
  readonly fits: boolean | null;
}

/** Of the spec's accelerator and labels. */
async function fittingRunners(
  client: Client,
  spec: JobSpec,
  need: MemoryNeed | undefined,
): Promise<RunnerFit[]> {
  const wanted = Math.max(spec.resources.min_memory_gb, need === undefined ? 0 : gigabytes(need.bytes));
  const runners = await runnersFor(client, { resources: spec.resources, languages: [] });
  return runners.map(({ name, memory_gb, alive }) => {
    const large = memory_gb >= wanted;
    return { name, memory_gb, alive, fits: large && need === undefined ? null : large };
  });
}
