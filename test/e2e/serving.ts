// A committed checkpoint and runners that serve, for the tests of talking to models.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { filesystemStore } from '../../store/filesystem.ts';
import { claimOne, registerDatasets, spec } from '../api/support.ts';
import { cleanEnv, cliEntry } from '../cli/run-cli.ts';
import type { ApiProcess } from '../runner/support/api-process.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { until } from '../support/until.ts';

export interface ServedRunner {
  readonly child: ChildProcess;
  readonly lines: string[];
}

/** Commits a checkpoint as a runner does, its files put into the store beforehand. */
export async function commitCheckpoint(api: ApiProcess, storeDir: string, local: string): Promise<string> {
  const { client } = api;
  await registerDatasets(client);
  await client.createJob(spec());
  const { claim, fence } = await claimOne(client);
  const prefix = `jobs/${claim.job}/a${claim.attempt}/c1/`;
  const files = await writeTinyDirectory(local, { positions: 4_096 });
  const store = filesystemStore(storeDir);
  for (const { name } of files) await store.put(`${prefix}${name}`, { path: join(local, name) });
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const manifest_sha256 = createHash('sha256').update('a manifest').digest('hex');
  const { id } = await client.runner.checkpoint({
    ...fence,
    checkpoint: { stage: 'sft', stage_index: 0, step: 1, kind: 'step', prefix, manifest_sha256, size, files },
  });
  return id;
}

/** Resolves when it is registered. */
export async function serveModel(
  api: ApiProcess,
  dataDir: string,
  model: string,
  ...flags: string[]
): Promise<ServedRunner> {
  const child = spawn(process.execPath, [cliEntry, 'runner', '--serve', model, ...flags], {
    env: {
      ...cleanEnv(),
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_KEY: api.key('read'),
      MILLRACE_DATA: dataDir,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output }).on('line', (line) => lines.push(line));
  const registered = () => lines.some((line) => line.includes('"registered"'));
  await until(() => registered() || child.exitCode !== null, 'a serving runner registers');
  if (!registered()) throw new Error(`the serving runner ended: ${lines.join('\n')}`);
  return { child, lines };
}
