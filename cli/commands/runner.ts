// millrace runner
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { chosenDataDir } from '../data-dir.ts';
import { exitCodes } from '../exit-code.ts';
import { runForeground } from '../foreground.ts';
import { localModelRoots } from '../serve/model-roots.ts';

export const runnerCommand: Command = {
  name: 'runner',
  summary: 'run jobs of a service on this machine',
  details:
    'Settings come from the environment: MILLRACE_URL, MILLRACE_RUNNER_TOKEN (a key with the scope runner),\n' +
    'MILLRACE_RUNNER_NAME, MILLRACE_ACCELERATOR, MILLRACE_MEMORY_GB, MILLRACE_RUNNER_LABELS (key=value,…),\n' +
    'MILLRACE_MODEL_ROOTS (directories that models on this machine lie below, separated by ":"), MILLRACE_SCRATCH,\n' +
    'STORE_URL and S3_*. What is not set is taken from the data directory of a local service.',
  arguments: [],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const dir = chosenDataDir(given);
    const local = {
      ...written('MILLRACE_URL', dir.url),
      ...written('MILLRACE_RUNNER_TOKEN', dir.runnerToken),
      ...(existsSync(dir.store)
        ? {
            STORE_URL: pathToFileURL(dir.store).href,
            MILLRACE_SCRATCH: dir.scratch,
            MILLRACE_MODEL_ROOTS: localModelRoots(),
          }
        : {}),
    };
    const code = await runForeground('runner/main.ts', [], { ...local, ...process.env }, interrupt);
    if (interrupt.aborted) return exitCodes.interrupted;
    return code === 0 ? exitCodes.succeeded : exitCodes.failed;
  },
};

const written = (name: string, path: string): Record<string, string> =>
  existsSync(path) ? { [name]: readFileSync(path, 'utf8').trim() } : {};
