// What a trainer process says of kept rollouts: which shard they lie in, and where in the run they were drawn.
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Claim } from '../../api/contract/runner.ts';
import type { FromTrainer } from '../../runner/ipc.ts';
import { ProcessHost } from '../../runner/trainer/process-host.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { claim } from './support/claims.ts';

let dir: TempDir;
beforeEach(async () => void (dir = await tempDir('process-host')));
afterEach(() => dir.remove());

it('the samples of a step are of its phase', async () => {
  const said: FromTrainer[] = [];
  const given: Claim = claim('train');
  const host = new ProcessHost({
    claim: given,
    scratch: dir.path,
    conditions: {} as never,
    parent: { send: (message) => void said.push(message), pauseAsked: () => false },
    contents: () => Promise.reject(new Error('no snapshot is taken')),
  });
  const line = {
    ...{ stage: 'math', step: 3, task: 5, rollout: 1, mode: 'thinking' as const, prompt: '1+1=' },
    ...{ response: '2', tokens: 2, truncated: false, status: 'scored' as const, reward: 1, parts: {} },
    ...{ code: null, advantage: 0 },
  };
  await host.samples([line], { stageIndex: 1, stage: 'math', phase: 2, step: 3 });
  const [message] = said;
  expect(message).toMatchObject({ type: 'samples', entry: { stage: 'math', phase: 2, step: 3 } });
  const file = await readFile((message as { file: string }).file, 'utf8');
  expect(JSON.parse(file)).toEqual(line);
});
