// Ctrl-C at any time of the demo leaves no process behind, and running it again works. The whole demo is `make demo`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '../../cli/serve/process-tree.ts';
import { identityOf, isAlive, treeOf } from '../../cli/serve/process-tree.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { cleanEnv, cliEntry, runCli } from './run-cli.ts';

let dir: TempDir;
beforeAll(async () => void (dir = await tempDir('demo')));
afterAll(() => dir.remove());

/** From what was printed and how many processes run. */
type Moment = (output: string, processes: number) => boolean;

interface Ended {
  readonly code: number | null;
  readonly output: string;
  /** What ran when the signal was sent. */
  readonly family: readonly ProcessIdentity[];
}

/** Starts the demo, and sends `signal` to it alone once `moment` has come. */
async function interruptedAt(moment: Moment, signal: NodeJS.Signals): Promise<Ended> {
  const child = spawn(process.execPath, [cliEntry, 'demo', '--data-dir', join(dir.path, 'demo')], {
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((done) => child.once('close', done));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  let family: ProcessIdentity[] = [];
  await until(() => {
    family = treeOf(identityOf(child.pid!));
    return moment(output, family.length) || child.exitCode !== null;
  }, 'the moment to interrupt');
  child.kill(signal);
  return { code: await closed, output, family };
}

describe('an interrupted demo', () => {
  it.each<[string, NodeJS.Signals, Moment]>([
    ['at once', 'SIGINT', (output) => output.includes('starting')],
    ['while Postgres starts', 'SIGINT', (output, processes) => processes >= 4 && !output.includes('listens')],
    ['when the service listens', 'SIGTERM', (output) => output.includes('listens')],
    ['while it trains', 'SIGHUP', (output) => output.includes('sft: step 1/')],
  ])('%s, by %s, leaves nothing', { timeout: 90_000 }, async (_when, signal, moment) => {
    const { code, output, family } = await interruptedAt(moment, signal);
    expect(output).toMatch(/interrupted; everything that was started has been stopped\n$/);
    expect(code).toBe(130);
    expect(family.length).toBeGreaterThan(0);
    expect(family.filter(isAlive)).toEqual([]);
  });
});

describe('the demo', () => {
  it.each(['DATABASE_URL', 'STORE_URL'])('refuses to run on a %s of somebody else', async (name) => {
    const refused = await runCli(['demo', '--data-dir', join(dir.path, 'foreign')], {
      [name]: 'somewhere://else',
    });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`unset ${name}`);
    expect(existsSync(join(dir.path, 'foreign'))).toBe(false);
  });
});
