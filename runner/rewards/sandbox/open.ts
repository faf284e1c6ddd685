// The sandbox of this machine: tries what it can do by running a canary in every language.
import type { Sandbox, SandboxOptions } from './sandbox.ts';

export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  throw new Error(`no back end yet among ${options.backEnds?.join(', ')}`);
}
