// The registered runners that a job may run on by its accelerator and labels, and what to say where none of them is there.
import type { Client } from '../api/client.ts';
import type { Runner } from '../api/contract/runner.ts';
import type { CodeLanguage } from '../api/contract/grader.ts';
import type { JobSpec } from '../api/contract/spec.ts';

type Resources = JobSpec['resources'];

export interface Needs {
  readonly resources: Resources;
  /** Of code that the job's graders run. */
  readonly languages: readonly CodeLanguage[];
}

/** Whatever their memory, alive or not. */
export async function runnersFor(
  client: Client,
  { resources: { accelerator, runner_labels }, languages }: Needs,
): Promise<Runner[]> {
  const suits = (runner: Runner): boolean =>
    runner.accelerator === accelerator &&
    languages.every((language) => runner.languages.includes(language)) &&
    Object.entries(runner_labels).every(([name, value]) => runner.labels[name] === value);
  const found: Runner[] = [];
  for await (const runner of client.all((query) => client.runners(query)))
    if (suits(runner)) found.push(runner);
  return found;
}

/** Why a job that was just posted will stay queued; undefined where a runner for it is alive. */
export function waitingFor(runners: readonly Runner[], { resources, languages }: Needs): string | undefined {
  if (runners.some(({ alive }) => alive)) return undefined;
  const labels = Object.entries(resources.runner_labels).map(([name, value]) => `${name}=${value}`);
  const kind = [resources.accelerator, ...labels, ...languages.map((one) => `a back end for ${one}`)].join(
    ', ',
  );
  return `no runner of ${kind} is alive: the job waits for one (millrace runner starts it, MILLRACE_ACCELERATOR says of which kind)`;
}
