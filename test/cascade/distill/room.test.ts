// A teacher from outside with fewer positions than the policy: what it is asked to score has to fit, seen before a step is spent.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TeacherTooShort } from '../../../runner/cascade/distill/room.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { recordedRun } from '../../support/recorded-run.ts';
import type { RecordedRun } from '../../support/recorded-run.ts';
import { tinyDistillSpec } from '../../support/tiny-distill.ts';
import { tinyData, tinyPolicy, tinyRows } from '../../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => {
  runtime = createRuntime();
});
afterAll(() => runtime[Symbol.dispose]());

// A character is a token, and one more begins the answer.
const longest = 1 + Math.max(...tinyRows.math.map(({ prompt }) => prompt.length));
const spec = tinyDistillSpec({
  distill: { steps: 1 },
  domains: [{ domain: 'math', teacher: { uri: '/models/a' } }],
});

async function withPositions(positions: number): Promise<RecordedRun> {
  const policy = await tinyPolicy(runtime);
  const { weights } = await policy.learner.state();
  policy[Symbol.dispose]();
  return recordedRun(runtime, spec, {
    teachers: { outside: { '/models/a': weights }, positions: { '/models/a': positions } },
  });
}

it('ends the run where a prompt and its answer are longer', async () => {
  const run = withPositions(longest + 5);
  await expect(run).rejects.toBeInstanceOf(TeacherTooShort);
  await expect(run).rejects.toThrow(
    new RegExp(
      `^teacher /models/a of stage distill, domain math: the model has ${longest + 5} positions; of dataset ${tinyData.math}, row \\d+, it is to score ${longest} prompt tokens and answers of up to 6: lower max_response`,
    ),
  );
});

it('teaches where they have room', async () => {
  const { entries } = await withPositions(longest + 6);
  expect(entries.filter(({ type }) => type === 'step')).not.toEqual([]);
});
