// What graders see of a rollout whose prompt has opened the think block: as if the response had opened it itself.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampleGroups } from '../../runner/cascade/rollout.ts';
import type { Sampler } from '../../runner/engine/sampler/completion.ts';
import { charactersTokenizerFiles } from '../../runner/engine/tokenizer/characters.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { drawKey } from '../../runner/engine/random/draws.ts';
import { createGrader } from '../../runner/rewards/grade.ts';
import { means } from '../support/means.ts';
import { tinyPolicy } from '../support/tiny-policy.ts';
import type { TinyPolicy } from '../support/tiny-policy.ts';

const tokenizer = new Tokenizer(
  charactersTokenizerFiles('<think>/ \\boxed{4}2+=?\n'.replaceAll(/(.)(?=.*\1)/gs, '')),
);
const math = createGrader({ type: 'math' }, means);
const task = { prompt: '2+2=?', answer: '4' };
const ids = (text: string): Int32Array => Int32Array.from(tokenizer.encode(text));

let runtime: Runtime;
let tiny: TinyPolicy;
beforeAll(async () => {
  runtime = createRuntime();
  tiny = await tinyPolicy(runtime);
});
afterAll(() => {
  tiny[Symbol.dispose]();
  runtime[Symbol.dispose]();
});

/** The one rollout of `prompt` by a model that says `said` and is cut off there, or ends. */
async function rolloutOf(prompt: string, said: string, ended: boolean) {
  const tokens = Int32Array.of(...ids(said), ...(ended ? [tokenizer.eosId!] : []));
  const logProbs = new Float32Array(tokens.length);
  const completion = { tokens, logProbs, samplingLogProbs: logProbs, logProbsAtOne: logProbs, ended };
  const sampler: Sampler = {
    generate: async (_, __, onCompletion) => {
      onCompletion?.(0, completion);
      return [completion];
    },
    [Symbol.dispose]: () => undefined,
  };
  const options = { rollouts: 1, temperature: 1, maxResponse: 99 };
  const policy = { ...tiny, tokenizer, sampler };
  const [rollout] = (await sampleGroups(policy, [ids(prompt)], options, drawKey(1, 'test', 1))).flat();
  return { ...rollout!, reward: await math.grade(task, rollout!.text) };
}

it.each(['2+2=?<think>', '2+2=?<think>\n'])('%j: thinking that never ended is no answer', async (prompt) => {
  const { text, truncated, reward } = await rolloutOf(prompt, '\\boxed{4}', false);
  expect(text).toBe('<think>\\boxed{4}');
  expect(truncated).toBe(true);
  expect(reward).toMatchObject({ value: 0 });
});

it('thinking that ended is left out, and the answer after it counts', async () => {
  const { text, reward } = await rolloutOf('2+2=?<think>\n', '2</think>\\boxed{4}', true);
  expect(text).toBe('<think>2</think>\\boxed{4}');
  expect(reward).toMatchObject({ status: 'scored', value: 1 });
});

it.each(['2+2=?', '2+2=?<think></think>\n'])(
  '%j: nothing is open, the response stands as it is',
  async (prompt) => {
    const { text, reward } = await rolloutOf(prompt, '\\boxed{4}', true);
    expect(text).toBe('\\boxed{4}');
    expect(reward).toMatchObject({ status: 'scored', value: 1 });
  },
);
