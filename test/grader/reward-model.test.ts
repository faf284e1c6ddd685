// A reward model from its directory, as transformers writes one, against the float64 reference: same tokens, same value.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Prompt } from '../../api/contract/task.ts';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { hfModelConfig, parseModelConfig } from '../../runner/engine/models/config.ts';
import { scoreName } from '../../runner/engine/models/decoder-tensors.ts';
import type { LoadedModel } from '../../runner/grader/read-model.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import { RewardModel } from '../../runner/grader/reward-model.ts';
import { createGrader } from '../../runner/rewards/grade.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { Float64Decoder } from '../engine/models/float64-decoder.ts';
import type { HfConfig } from '../engine/models/float64-decoder.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance } from '../engine/learner/support.ts';
import { tinyInit } from '../support/tiny-policy.ts';

const runtime = leakCheckedRuntime();
const template =
  "{% for m in messages %}{{ m['role'][0] }}:{{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}a:{% endif %}";
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789,:+= \n<>';
const positions = 48;
let directory: string;
let chat: LoadedModel;
let raw: LoadedModel;

/** A random scalar head on a tiny Llama; with a chat template where `chatTemplate` is given. */
async function written(name: string, chatTemplate?: string): Promise<LoadedModel> {
  const init = {
    ...tinyInit,
    config: { ...tinyInit.config, max_position_embeddings: positions },
    tokenizer: { type: 'characters', alphabet } as const,
  };
  const base = await loadModel(init, { datasets: {} }, 1);
  const config = { ...base.config, scalarHead: true, tieWordEmbeddings: false };
  const weights = new Map(
    [...livelyWeights(config, 5)].map(([key, { shape, data }]) => [
      key,
      { dtype: 'float32' as const, shape, data },
    ]),
  );
  const modelFiles = new Map(base.files);
  modelFiles.set('config.json', JSON.stringify(hfModelConfig(config, {})));
  if (chatTemplate !== undefined) modelFiles.set('chat_template.jinja', chatTemplate);
  else modelFiles.set('tokenizer_config.json', withoutTemplate(base.files.get('tokenizer_config.json')!));
  const path = join(directory, name);
  await mkdir(path);
  await writeModel(path, { weights, modelFiles });
  return await readModel(path);
}

function withoutTemplate(tokenizerConfig: string): string {
  const { chat_template: _, ...rest } = JSON.parse(tokenizerConfig) as Record<string, unknown>;
  return JSON.stringify(rest);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-test-reward-'));
  chat = await written('chat', template);
  raw = await written('raw');
});
afterAll(() => rm(directory, { recursive: true }));

/** A language head of one word is a scalar head. */
function referenceValue(model: LoadedModel, ids: readonly number[]): number {
  const asLanguage = new Map(
    [...model.weights].map(([name, of]) => [name === scoreName ? 'lm_head.weight' : name, of]),
  );
  const hf = { ...hfModelConfig(model.config, {}), tie_word_embeddings: false } as unknown as HfConfig;
  return new Float64Decoder(hf, asLanguage).logits([...ids]).at(-1)![0]!;
}

async function valuesOf(model: LoadedModel, items: { prompt: Prompt; answer: string }[]) {
  const rewardModel = await RewardModel.create(runtime, model);
  try {
    return await rewardModel.score(items);
  } finally {
    rewardModel[Symbol.dispose]();
  }
}

test('the directory holds what transformers reads as a reward model', () => {
  expect(chat.config.scalarHead).toBe(true);
  expect(chat.weights.get(scoreName)?.shape).toEqual([1, chat.config.hiddenSize]);
  expect(JSON.parse(chat.files.get('config.json')!)).toMatchObject({
    architectures: ['LlamaForSequenceClassification'],
    id2label: { 0: 'LABEL_0' },
  });
  expect(parseModelConfig(JSON.parse(chat.files.get('config.json')!), 'config.json')).toEqual(chat.config);
});

test('values are the reference’s at the last token of the rendered chat', async () => {
  const items = [
    { prompt: 'say hello', answer: 'hello' },
    {
      prompt: [
        { role: 'system' as const, content: 'be kind' },
        { role: 'user' as const, content: 'hi' },
      ],
      answer: '',
    },
    { prompt: 'one', answer: 'a rather longer answer' },
  ];
  const texts = ['u:say hello\na:hello\n', 's:be kind\nu:hi\na:\n', 'u:one\na:a rather longer answer\n'];
  const expected = texts.map((text) => referenceValue(chat, chat.tokenizer.encodeExact(text)));
  const scores = await valuesOf(chat, items);
  const found = scores.map((score) => ('value' in score ? score.value : Number.NaN));
  expect(relativeDistance(found, expected)).toBeLessThan(1e-5);
  expect(new Set(expected.map((value) => value.toFixed(3))).size).toBe(3);
});

test('without a chat template the answer follows the prompt and is ended', async () => {
  const { tokenizer } = raw;
  expect(tokenizer.hasChatTemplate).toBe(false);
  const ids = [...tokenizer.encode('1+1='), ...tokenizer.encodeExact('2'), tokenizer.eosId!];
  const [score, messages] = await valuesOf(raw, [
    { prompt: '1+1=', answer: '2' },
    { prompt: [{ role: 'user', content: 'a' }], answer: 'b' },
  ]);
  expect(score).toEqual({ value: expect.closeTo(referenceValue(raw, ids), 4) as number });
  expect(messages).toEqual({ fault: expect.stringContaining('no chat template') as string });
});

test('an answer beyond the positions is cut; a prompt that fills them is a fault of its item alone', async () => {
  const long = 'x'.repeat(100);
  const ids = chat.tokenizer.encodeExact(`u:go\na:${long}\n`);
  const scores = await valuesOf(chat, [
    { prompt: 'go', answer: long },
    { prompt: long, answer: 'go' },
    { prompt: 'go', answer: 'go' },
  ]);
  const value = expect.closeTo(referenceValue(chat, ids.slice(0, positions)), 4) as number;
  expect(scores[0]).toEqual({ value, cutFrom: ids.length });
  expect(scores[1]).toEqual({
    fault: expect.stringMatching(/prompt's \d+ tokens fill.* 48 positions/) as string,
  });
  expect(scores[2]).toHaveProperty('value');
});

test('an answer cannot write the marks of the template', async () => {
  const { tokenizer } = chat;
  const mark = tokenizer.decode([tokenizer.eosId!], { keepSpecial: true });
  const nested = `${mark.slice(0, 2)}${mark}${mark.slice(2)}`;
  const [plain, one, two] = await valuesOf(chat, [
    { prompt: 'go', answer: 'well done' },
    { prompt: 'go', answer: `well${mark} done` },
    { prompt: 'go', answer: `well${nested} done` },
  ]);
  expect(tokenizer.encodeExact(`well${mark} done`)).toContain(tokenizer.eosId);
  expect(one).toEqual(plain);
  expect(two).toEqual(plain);
});

test('a value is the same bit for bit in whatever batch the others of its length stand', async () => {
  const items = Array.from({ length: 9 }, (_, i) => ({ prompt: `task ${i}`, answer: 'x'.repeat(3 * i) }));
  const together = await valuesOf(chat, items);
  for (const [at, item] of items.entries())
    expect(await valuesOf(chat, [item]), String(at)).toEqual([together[at]]);
});

test('the grader scores rows with it', async () => {
  const model = `ckpt_${'0'.repeat(24)}`;
  const rewardModel = await RewardModel.create(runtime, chat);
  try {
    const rewardModels = new Map([[model, rewardModel.score.bind(rewardModel)]]);
    const verifier = createGrader({ type: 'preference', model }, createMeans({ rewardModels }));
    const expected = referenceValue(chat, chat.tokenizer.encodeExact('u:go\na:done\n'));
    expect(await verifier.grade({ prompt: 'go', answer: '' }, '<think>a</think>\ndone')).toMatchObject({
      ...{ status: 'scored', value: expect.closeTo(expected, 4) as number },
    });
  } finally {
    rewardModel[Symbol.dispose]();
  }
  expect(() => createGrader({ type: 'preference', model }, createMeans())).toThrow(
    /reward model ckpt_0+ was not brought/,
  );
});

test('a model with a language head is refused by name', async () => {
  const { scalarHead: _, ...config } = chat.config;
  await expect(RewardModel.create(runtime, { ...chat, config })).rejects.toThrow(/language head/);
});
