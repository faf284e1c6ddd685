// The main job, end to end with real processes: a cascade from REST to a committed checkpoint, then the same job while
// trainer, uploader, API and supervisor are each killed in its middle. On both stores; Postgres is the test run's.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/contract/event.ts';
import { identityOf, treeOf } from '../../cli/serve/process-tree.ts';
import { pull } from '../../cli/pull/pull.ts';
import { runCli } from '../cli/run-cli.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { stores } from './stores.ts';
import { expectWhole, followToEnd, lastCheckpoint, mathSteps, tinySpec, weightsOf } from './tiny-job.ts';

const limitMs = 120_000;

/** The process below the supervisor that runs this entry. */
function childOf(supervisor: number, entry: string): number {
  const found = treeOf(identityOf(supervisor)).find(({ pid }) => commandOf(pid).includes(entry));
  if (found === undefined) throw new Error(`no ${entry} runs below process ${supervisor}`);
  return found.pid;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // gone meanwhile
  }
}

describe.each(stores)('a cascade job on $name', ({ missing, ranges, open }) => {
  describe.skipIf(missing !== false)(missing === false ? 'end to end' : `skipped: ${missing}`, () => {
    let dir: TempDir;
    let stack: Stack;
    let undisturbed: string;
    let pulledCheckpoint: string;

    beforeAll(async () => {
      dir = await tempDir('e2e');
      stack = await startStack({ dir: dir.path, ...(await open(dir.path)) });
    }, 500_000);
    afterAll(async () => {
      await stack.stop();
      await dir.remove();
    });

    it(
      'goes from REST to a checkpoint that the command line pulls',
      async () => {
        const { client, connection } = stack;
        const { id } = await client.createJob(await tinySpec(client));
        await expectWhole(client, id, await followToEnd(client, id));
        const evaluations = (await client.evaluations(id)).data;
        expect(evaluations.map(({ after }) => after)).toEqual(['initial', 'sft', 'math']);
        const samples = (await client.samples(id, { stage: 'math', step: mathSteps })).data;
        expect(samples.length).toBeGreaterThan(0);

        const checkpoint = await lastCheckpoint(client, id);
        expect(checkpoint).toMatchObject({ stage: 'math', step: mathSteps, kind: 'final' });
        undisturbed = weightsOf(checkpoint);
        pulledCheckpoint = checkpoint.id;
        const env = { MILLRACE_URL: connection.url, MILLRACE_KEY: connection.key };
        const pulled = await runCli(['pull', id, '--to', join(dir.path, 'pulled')], env);
        expect(pulled).toMatchObject({ code: 0, stdout: `${join(dir.path, 'pulled')}\n` });
        const config = readFileSync(join(dir.path, 'pulled/config.json'), 'utf8');
        expect(JSON.parse(config)).toMatchObject({ model_type: 'llama', hidden_size: 32 });
      },
      limitMs,
    );

    it('is pulled on from where a former pull was cut off', async () => {
      const { client, connection } = stack;
      const checkpoint = await client.checkpoint(pulledCheckpoint);
      const weights = checkpoint.files.find(({ name }) => name === 'model.safetensors')!;
      const only = { ...checkpoint, files: [weights] };
      const directory = join(dir.path, 'cut');
      mkdirSync(directory);
      const whole = readFileSync(join(dir.path, 'pulled', weights.name));
      writeFileSync(join(directory, `${weights.name}.part`), whole.subarray(0, -1000));
      const counts: number[] = [];
      const onBytes = (bytes: number): number => counts.push(bytes);
      const signal = new AbortController().signal;
      await pull({
        connection: { client, options: connection },
        checkpoint: only,
        directory,
        onBytes,
        signal,
      });
      expect(readFileSync(join(directory, weights.name)).equals(whole)).toBe(true);
      if (ranges) expect(Math.min(...counts)).toBeGreaterThan(weights.size - 1000);
      expect(counts.at(-1)).toBe(weights.size);
    });

    it.skipIf(process.platform !== 'linux')(
      'ends with the same weights, bit for bit, though every process was killed in its middle (needs /proc)',
      async () => {
        const { client } = stack;
        const killedAt = new Map<string, number>();
        const victims: Record<string, [name: string, pid: () => number]> = {
          'sft 7': ['trainer', () => childOf(stack.pid('runner'), 'trainer.ts')],
          'sft 16': ['supervisor', () => stack.pid('runner')],
          'math 3': ['uploader', () => childOf(stack.pid('runner'), 'uploader.ts')],
          'math 12': ['api', () => stack.pid('api')],
        };
        const onEvent = ({ seq, body }: JobEvent): void => {
          const due = body.type === 'step' ? `${body.stage} ${body.step}` : '';
          const [name, pid] = victims[due] ?? [];
          if (name === undefined || pid === undefined) return;
          delete victims[due]; // a resume comes by here again
          process.kill(pid(), 'SIGKILL');
          killedAt.set(name, seq);
        };
        const { id } = await client.createJob(await tinySpec(client));
        const events = await followToEnd(client, id, onEvent);
        await expectWhole(client, id, events);
        expect([...killedAt.keys()]).toEqual(['trainer', 'supervisor', 'uploader', 'api']);
        expect([stack.starts('api'), stack.starts('runner')]).toEqual([2, 2]);
        const steps = events.filter(({ body }) => body.type === 'step').map(({ seq }) => seq);
        for (const seq of killedAt.values()) expect(Math.max(...steps)).toBeGreaterThan(seq);
        const failures = events.flatMap(({ body }) => (body.type === 'attempt_failed' ? [body.reason] : []));
        // A slow restart of the API may cost a lease more.
        expect(failures.slice(0, 2)).toEqual(['trainer_crashed', 'lease_expired']);
        expect(weightsOf(await lastCheckpoint(client, id))).toBe(undisturbed);
      },
      limitMs,
    );
  });
});
