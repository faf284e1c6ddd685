// millrace runner [--serve MODEL]
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { localModel } from '../chat/local-model.ts';
import type { Command, Given } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import type { DataDir } from '../data-dir.ts';
import { chosenDataDir } from '../data-dir.ts';
import type { ExitCode } from '../exit-code.ts';
import { exitCodes } from '../exit-code.ts';
import { runForeground } from '../foreground.ts';
import { localModelRoots } from '../serve/model-roots.ts';
import { UsageError } from '../user-error.ts';

const servingFlags = {
  as: {
    type: 'string',
    value: 'NAME',
    help: 'name that requests may use for it (default: of a directory, its own)',
  },
  listen: { type: 'string', value: 'HOST:PORT', help: 'where to listen (default: 127.0.0.1:0, a free port)' },
  advertise: {
    type: 'string',
    value: 'URL',
    help: 'where the API reaches this runner (default: where it listens)',
  },
  context: {
    type: 'string',
    value: 'N',
    help: 'tokens of messages and answer together (default: 4096, at most what the model has)',
  },
  parallel: { type: 'string', value: 'N', help: 'answers written at once, at most (default: 8)' },
} as const;

export const runnerCommand: Command = {
  name: 'runner',
  summary: 'run jobs of a service on this machine, or serve a model for it',
  details:
    'Settings come from the environment: MILLRACE_URL, MILLRACE_RUNNER_TOKEN (a key with the scope runner),\n' +
    'MILLRACE_RUNNER_NAME, MILLRACE_ACCELERATOR, MILLRACE_MEMORY_GB, MILLRACE_RUNNER_LABELS (key=value,…),\n' +
    'MILLRACE_MODEL_ROOTS (directories that models on this machine lie below, separated by ":"), MILLRACE_SCRATCH,\n' +
    'STORE_URL and S3_*. What is not set is taken from the data directory of a local service.\n' +
    'With --serve it runs no jobs: it answers POST /v1/chat/completions of the service with this model. A checkpoint is\n' +
    'fetched first, with MILLRACE_KEY (scope read). Do not give it a device that a training runner uses.',
  arguments: [],
  flags: {
    ...dataDirFlag,
    serve: {
      type: 'string',
      value: 'MODEL',
      help: 'checkpoint (ckpt_…), directory in Hugging Face layout, or s3:// URI of one',
    },
    ...servingFlags,
  },
  async run(given, interrupt, hurry) {
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
    const env = { ...local, ...process.env };
    const model = given.text('serve');
    if (model !== undefined) return serve(given, dir, model, env, interrupt);
    const lone = Object.keys(servingFlags).find((flag) => given.text(flag) !== undefined);
    if (lone !== undefined) throw new UsageError(`--${lone} goes with --serve MODEL`);
    return foreground('runner/main.ts', [], env, interrupt, hurry);
  },
};

async function serve(
  given: Given,
  dir: DataDir,
  target: string,
  env: NodeJS.ProcessEnv,
  interrupt: AbortSignal,
): Promise<ExitCode> {
  // A runner token reads no checkpoints: they are fetched with a key, which the runner itself never sees.
  const connecting = () => connect(given, interrupt);
  const { model, checkpoint } = await localModel(target, dir.models, connecting, interrupt);
  const flags = Object.keys(servingFlags).flatMap((flag) => {
    const value = given.text(flag);
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  const identity =
    checkpoint !== undefined
      ? [`--checkpoint=${checkpoint}`]
      : given.text('as') === undefined
        ? [`--as=${basename(model)}`]
        : [];
  const words = [`--model=${model}`, ...identity, ...flags];
  return foreground('runner/serve.ts', words, { ...env, MILLRACE_KEY: undefined }, interrupt);
}

async function foreground(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupt: AbortSignal,
  hurry?: AbortSignal,
): Promise<ExitCode> {
  const code = await runForeground(entry, args, env, interrupt, hurry);
  if (interrupt.aborted) return exitCodes.interrupted;
  return code === 0 ? exitCodes.succeeded : exitCodes.failed;
}

const written = (name: string, path: string): Record<string, string> =>
  existsSync(path) ? { [name]: readFileSync(path, 'utf8').trim() } : {};
