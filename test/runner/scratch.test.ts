// Folders that killed runners left, one of them still written to by a process that outlives its supervisor for a moment.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeScratch } from '../../runner/supervisor/scratch.ts';
import { tempDir } from '../support/temp-dir.ts';

const gone = 'runner-4194999-left';

it('removes what is left, and starts where that is being written to', { timeout: 120_000 }, async () => {
  await using dir = await tempDir('scratch');
  const orphan = fork(join(import.meta.dirname, 'support/scratch-writer.ts'), [join(dir.path, gone)]);
  await once(orphan, 'message');
  for (let start = 0; start < 5; start += 1) expect(existsSync(await makeScratch(dir.path))).toBe(true);
  orphan.kill('SIGKILL');
  await once(orphan, 'exit');
  await mkdir(join(dir.path, gone), { recursive: true });
  await makeScratch(dir.path);
  expect(await readdir(dir.path)).not.toContain(gone);
});
