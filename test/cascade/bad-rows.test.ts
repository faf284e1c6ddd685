// Rows that a stage cannot read end the run before a step, as the data's fault and with their place, whatever refuses them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExpandedReinforcedStage, ExpandedSftStage } from '../../api/contract/expand.ts';
import type { Message } from '../../api/contract/task.ts';
import { reinforcedStage } from '../../runner/cascade/rl/stage.ts';
import type { Policy } from '../../runner/cascade/policy.ts';
import { sftStage } from '../../runner/cascade/sft.ts';
import { DataError } from '../../runner/data/error.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { charactersTokenizer } from '../../runner/engine/tokenizer/characters.ts';
import { parseTokenizerFiles } from '../../runner/engine/tokenizer/files.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import { means } from '../support/means.ts';
import type { TinyPolicy } from '../support/tiny-policy.ts';
import { noOutage, tinyPolicy, tinyRows, tinySpec } from '../support/tiny-policy.ts';

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

/** Takes one user message and one answer, and nothing else. */
const strict =
  "{% if messages|length > 2 %}{{ raise_exception('too long') }}{% endif %}{{ messages[0]['content'] }}";

function policyWith(chatTemplate: string | null): Policy {
  const texts = charactersTokenizer('0123456789,:+= ');
  const config = JSON.stringify({ ...(JSON.parse(texts.config) as object), chat_template: chatTemplate });
  const files = parseTokenizerFiles({ tokenizer: texts.tokenizer, config }, 'test');
  return { tokenizer: new Tokenizer(files), learner: tiny.learner, sampler: tiny.sampler };
}

const [sft, math] = tinySpec().stages as [ExpandedSftStage, ExpandedReinforcedStage];
const pair = (user: string): Message[] => [
  { role: 'user', content: user },
  { role: 'assistant', content: '1' },
];

it.each([
  ['no token before the answer', null, pair(''), /^stage sft, dataset \w+, row 1: no token comes before/],
  ['no template for its turns', null, [...pair('1'), ...pair('1')], /, row 1: without a chat template/],
  ['a template that refuses it', strict, [...pair('1'), ...pair('1')], /, row 1: .*too long/],
])('a conversation with %s', (_, template, messages, message) => {
  const run = (): unknown => sftStage(policyWith(template), sft, [{ messages: pair('1') }, { messages }], 1);
  expect(run).toThrow(DataError);
  expect(run).toThrow(message);
});

it('a prompt of messages without a template', () => {
  const rows = [tinyRows.math[0]!, { prompt: [{ role: 'user' as const, content: '1' }], answer: '1' }];
  const data = { sft: () => [], tasks: () => rows };
  const run = (): unknown =>
    reinforcedStage(policyWith(null), math, data, { seed: 1, samplesPerStep: 0, means, outage: noOutage });
  expect(run).toThrow(DataError);
  expect(run).toThrow(/^stage math, dataset \w+, row 1: the model has no chat template/);
});
