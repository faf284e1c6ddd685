// Every attack ends as it should, leaves nothing running, and leaves the sandbox as good as before: once as whoever runs
// the tests and, where that is root, once more as an ordinary user.
import { execFile } from 'node:child_process';
import { access, chmod, constants, copyFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { nodeAttacks, quickJsAttacks } from './attacks-javascript.ts';
import { pythonAttacks } from './attacks-python.ts';
import { battleLimits } from './battle-limits.ts';
import { fight } from './battle.ts';

const battleMain = join(import.meta.dirname, 'battle-main.ts');
const BATTLE_MILLISECONDS = 300_000;
const ORDINARY_USER = 1_000_000 + (process.pid % 100_000);

const trial = await openSandbox({ backEnds: ['bubblewrap'], slots: 1 });
await trial.close();
const why = Object.values(trial.missing)[0];
const isRoot = process.getuid?.() === 0;

const names = [
  ...pythonAttacks.map(({ name }) => `python: ${name}`),
  ...nodeAttacks.map(({ name }) => `node: ${name}`),
];
const unharmed = (user: number) => ({
  ...Object.fromEntries(names.map((name) => [name, []])),
  user: [String(user)],
  reached: [],
  left: [],
});

async function battle(command: string, words: string[]): Promise<unknown> {
  const env = { PATH: process.env.PATH, SECRET: 'SECRET', TMPDIR: '/tmp' };
  const { stdout } = await promisify(execFile)(command, words, { env, cwd: '/', maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

async function readableByAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o005) === 0o005 && (dirname(path) === path || readableByAll(dirname(path)));
}

describe(`attacks on bubblewrap${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  it.skipIf(why !== undefined)(
    `fail as ${isRoot ? 'root' : 'an ordinary user'}`,
    async () => {
      expect(await battle(process.execPath, [battleMain])).toEqual(unharmed(process.getuid?.() ?? 0));
    },
    BATTLE_MILLISECONDS,
  );

  it.skipIf(why !== undefined)(
    'fail as an ordinary user who is not root',
    async ({ skip }) => {
      if (!isRoot) skip('only root can become another user; the test above ran as an ordinary one');
      if (!(await readableByAll(dirname(battleMain)))) skip('other users cannot read this clone');
      const folder = await tempDir('ordinary-user');
      try {
        await chmod(folder.path, 0o755);
        const node = join(folder.path, 'node');
        await copyFile(process.execPath, node, constants.COPYFILE_FICLONE);
        await access(node, constants.X_OK);
        const identity = [
          '--reuid',
          String(ORDINARY_USER),
          '--regid',
          String(ORDINARY_USER),
          '--clear-groups',
        ];
        expect(await battle('setpriv', [...identity, node, battleMain])).toEqual(unharmed(ORDINARY_USER));
      } finally {
        await folder.remove();
      }
    },
    BATTLE_MILLISECONDS,
  );
});

describe('attacks on QuickJS', () => {
  const opened = openSandbox({ backEnds: ['quickjs'], slots: 2, limits: battleLimits });
  afterAll(async () => (await opened).close());
  it.each(quickJsAttacks)('$name', async (attack) => {
    const sandbox = await opened;
    const places = { tcpPort: 0, udpPort: 0, paths: [] };
    expect(await fight(sandbox, 'javascript', attack, places, 0)).toEqual([]);
  });
});
