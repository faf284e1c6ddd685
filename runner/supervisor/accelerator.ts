// Which accelerator this runner really has, before it registers. A child asks the libraries, so that the supervisor stays
// light and a driver that crashes takes nothing along; what it says of providers that were passed over goes to the log.
import { join, resolve } from 'node:path';
import type { Accelerator } from '../../api/contract/names.ts';
import type { FromProbe } from '../ipc.ts';
import { endChild, exitOf, forkChild } from './child.ts';
import { SettingsError } from './settings.ts';
import { withoutSecrets } from './trainer-process.ts';

export interface FoundAccelerator {
  readonly accelerator: Accelerator;
  /** For the log. */
  readonly told: readonly string[];
}

const probeEntry = join(resolve(import.meta.dirname, '..'), 'probe.ts');
/** CUDA's libraries are large, and a device may be asleep. */
const probeMs = 120_000;

/** Throws SettingsError, with the reason and what to do, where `wanted` cannot be had. The cpu always can. */
export async function findAccelerator(
  wanted: Accelerator | 'auto',
  env: NodeJS.ProcessEnv,
  limitMs = probeMs,
): Promise<FoundAccelerator> {
  if (wanted === 'cpu') return { accelerator: 'cpu', told: [] };
  const child = forkChild(probeEntry, {
    env: { ...withoutSecrets(env), MILLRACE_ACCELERATOR: wanted },
    output: 'inherit',
  });
  let said: FromProbe | undefined;
  child.on('message', (message) => (said = message as FromProbe));
  const exited = exitOf(child);
  let answered = 'without an answer';
  const late = setTimeout(() => {
    answered = `for want of an answer in ${limitMs / 1000} s`;
    void endChild(child, exited, 0);
  }, limitMs);
  const { code, signal, error } = await exited;
  clearTimeout(late);
  if (said?.type === 'found')
    return { accelerator: said.provider, told: [...said.told, `products are of ${said.precision}`] };
  const why =
    said?.message ??
    `asking for ${wanted} ended with ${error?.message ?? signal ?? `code ${code}`}, ${answered}: mend the driver, or choose another`;
  throw new SettingsError(`the runner cannot start:\n  MILLRACE_ACCELERATOR: ${why}`);
}
