// `millrace explain` without a service: what it reads from a spec and from directories, and what it says of the rest.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultedFields } from '../../api/contract/defaults.ts';
import { gigabytes } from '../../api/contract/memory/need.ts';
import { publishedModels } from '../../infra/published-models.ts';
import { createClient } from '../../api/client.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { explain } from '../../cli/explain/explanation.ts';
import type { Explanation } from '../../cli/explain/explanation.ts';
import { charactersTokenizer, charactersTokenizerFiles } from '../../runner/engine/tokenizer/characters.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runCli } from './run-cli.ts';

const digits = resolve(import.meta.dirname, '../../examples/digits.json');
const shape = { hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2, num_attention_heads: 4 };
const math = { kind: 'math', data: 'tasks', steps: 1, max_response: 100 };

let dir: TempDir;
beforeAll(async () => void (dir = await tempDir('explain')));
afterAll(() => dir.remove());

function specFile(name: string, init: object, changes: object = {}): string {
  const path = join(dir.path, name);
  writeFileSync(path, JSON.stringify({ type: 'cascade', model: { init }, stages: [math], ...changes }));
  return path;
}

async function explained(path: string): Promise<{ code: number; said: Explanation }> {
  const { code, stdout, stderr } = await runCli(['explain', path, '--json', '--data-dir', dir.path]);
  if (stdout === '') throw new Error(stderr);
  return { code, said: JSON.parse(stdout) as Explanation };
}

function modelDirectory(name: string, config: object): string {
  const path = join(dir.path, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'config.json'), JSON.stringify(config));
  return path;
}

const qwen3 = {
  model_type: 'qwen3',
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  max_position_embeddings: 40_960,
  tie_word_embeddings: true,
};

describe('the example', () => {
  it('is printed whole, with its defaults marked, lengths, steps and memory', async () => {
    const { code, stdout, stderr } = await runCli(['explain', digits, '--data-dir', dir.path]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^ {2}\* {2}\/stages\/0\/max_length +16384 +Nemotron-Cascade, Table 14, stage 1$/m,
    );
    expect(stdout).toMatch(/^ {5}\/stages\/0\/batch +64$/m);
    expect(stdout).toMatch(/^ {2}\/stages\/0\/max_length +2048 tokens +trained$/m);
    expect(stdout).toMatch(/^ {2}math +512 sequences +12288 tokens/m);
    expect(stdout).toMatch(/^ +cpu +webgpu +cuda$/m);
    expect(stdout).toMatch(/^ {2}in all +0\.\d+ +0\.\d+ +0\.\d+ +795776 parameters$/m);
    expect(stdout).toContain('no service answers: not known');
  });

  it('as JSON has the same', async () => {
    const { said } = await explained(digits);
    expect(said.schema).toBe(1);
    expect(said.defaults).toContainEqual({ pointer: '/resources/accelerator', source: 'our choice' });
    expect(said.defaults.map(({ pointer }) => pointer)).not.toContain('/stages/0/lr');
    expect(said.memory.map(({ accelerator }) => accelerator)).toEqual(['cpu', 'webgpu', 'cuda']);
    expect(said.runners).toBeNull();
  });
});

describe('a model on this machine', () => {
  it('is reckoned by its config.json', async () => {
    const { said } = await explained(specFile('hf.json', { from: 'hf', uri: modelDirectory('qwen', qwen3) }));
    expect(said.model).toMatchObject(publishedModels['Qwen3-0.6B']!);
    const [cpu] = said.memory;
    const weights = cpu!.lines.filter(({ name }) => ['weights', 'gradients', 'moments'].includes(name));
    expect(gigabytes(weights.reduce((total, { bytes }) => total + bytes, 0))).toBe(9.537);
  });

  it('of no family of ours leaves the memory unknown, and says why', async () => {
    const uri = modelDirectory('gpt2', { ...qwen3, model_type: 'gpt2' });
    const { code, said } = await explained(specFile('gpt2.json', { from: 'hf', uri }));
    expect([code, said.model, said.memory]).toEqual([0, null, []]);
    expect(said.missing).toMatch(/model_type/);
  });

  it.each([
    ['s3://bucket/model', /s3:\/\/bucket\/model is not read from here/],
    ['/nowhere/model', /\/nowhere\/model\/config\.json/],
  ])('%s is said to be missing', async (uri, why) => {
    const { said } = await explained(specFile('absent.json', { from: 'hf', uri }));
    expect(said.missing).toMatch(why);
    const text = await runCli(['explain', join(dir.path, 'absent.json'), '--data-dir', dir.path]);
    expect(text.stdout).toMatch(/not known: .*config\.json/);
  });

  it('that is a checkpoint is asked of a service', async () => {
    const init = { from: 'checkpoint', checkpoint: 'ckpt_01234567890123456789012345' };
    expect((await explained(specFile('ckpt.json', init))).said.missing).toMatch(/no service answers/);
  });

  it('takes the words of a tokenizer that the spec names', async () => {
    const texts = charactersTokenizer('abcdef');
    const uri = modelDirectory('tokenizer', {});
    writeFileSync(join(uri, 'tokenizer.json'), texts.tokenizer);
    const { said } = await explained(
      specFile('tok.json', { from: 'config', config: shape, tokenizer: { uri } }),
    );
    expect(said.model?.vocabSize).toBe(new Tokenizer(charactersTokenizerFiles('abcdef')).vocabSize);
  });
});

describe('a preset', () => {
  const path = () =>
    specFile(
      'preset.json',
      { from: 'hf', uri: modelDirectory('qwen', qwen3) },
      {
        preset: 'nemotron-cascade-2',
        stages: [
          { name: 'rlhf', data: 'pairs', grader: { type: 'preference', model: rewardModel }, lr: 1e-6 },
          { name: 'instruction', data: 'rows' },
        ],
      },
    );
  const rewardModel = 'ckpt_01234567890123456789012345';

  it('is printed in its order with the table of each value, and with what it leaves out', async () => {
    const { stdout } = await runCli(['explain', path(), '--data-dir', dir.path]);
    expect(stdout).toMatch(
      /^ {2}\* {2}\/stages\/0\/steps +180 +nemotron-cascade-2: Nemotron-Cascade 2, Table 8$/m,
    );
    expect(stdout).toMatch(/^ {2}\* {2}\/stages\/1\/kl +0\.03 +nemotron-cascade-2: .*Table 9/m);
    expect(stdout).toMatch(/^ {2}\* {2}\/stages\/1\/shaping +"off" +Nemotron-Cascade, section 6\.3/m);
    expect(stdout).toMatch(/^ {5}\/stages\/1\/lr +0\.000001$/m);
    expect(stdout).toMatch(/^of nemotron-cascade-2 is left out$/m);
    expect(stdout).toMatch(/^ {2}agentic-swe +agents/m);
    expect(stdout).toMatch(/^ {2}code +not posted/m);
    expect(stdout).toMatch(/^ {2}instruction +2048 sequences/m);
  });

  it('counts the frozen reference of a stage with kl, and says which reward model it cannot count', async () => {
    const { said } = await explained(path());
    expect(said.memory[0]!.lines).toContainEqual(
      expect.objectContaining({ name: 'reference', bytes: 4 * said.model!.parameters }),
    );
    expect(said.memory[0]!.lines).toContainEqual({
      name: 'reward_models',
      bytes: 0,
      what: `not counted, its size is not known: ${rewardModel}`,
    });
    expect(said.omitted).toContainEqual({
      name: 'sft',
      why: expect.stringContaining('not posted') as string,
    });
  });
});

describe('a stage that distils', () => {
  const evaluate = { suites: [{ name: 'math', data: 'tasks', grader: { type: 'exact' } }] };
  const small = { ...qwen3, num_hidden_layers: 1 };
  const path = (teacher: unknown) => {
    const domains = [{ domain: 'math' }, { domain: 'chat', data: 'talks', teacher }];
    const distill = { kind: 'distill', steps: 3, max_response: 200, domains };
    const gate = { after: 'math', require: { metric: 'math.non_thinking.avg@1', at_least: 0.5 } };
    return specFile(
      'distil.json',
      { from: 'hf', uri: modelDirectory('small', small) },
      {
        stages: [math, distill],
        evaluate,
        gates: [{ ...gate, otherwise: 'distill', repair: { max_response: 150 } }],
      },
    );
  };

  it('is printed with where each of its values comes from, and with the stage that a gate repairs by', async () => {
    const { stdout } = await runCli([
      'explain',
      path({ uri: modelDirectory('qwen', qwen3) }),
      '--data-dir',
      dir.path,
    ]);
    expect(stdout).toMatch(
      /^ {2}\* {2}\/stages\/1\/name +"repair-math" +the kind; of a repair, the stage that it repairs$/m,
    );
    expect(stdout).toMatch(/^ {5}\/stages\/1\/repairs +"math"$/m);
    expect(stdout).toMatch(/^ {5}\/stages\/1\/max_response +150$/m);
    expect(stdout).toMatch(/^ {2}\* {2}\/stages\/1\/steps +20 +our choice, of a repair/m);
    expect(stdout).toMatch(
      /^ {2}\* {2}\/stages\/1\/domains\/0\/teacher +"best" +Nemotron-Cascade 2, section 4\.4/m,
    );
    expect(stdout).toMatch(/^ {2}\* {2}\/stages\/2\/domains\/0\/data +"tasks" +the stages before it$/m);
    expect(stdout).toMatch(/^ {5}\/stages\/2\/domains\/1\/teacher\/uri +"/m);
    expect(stdout).toMatch(
      /^ {2}\* {2}\/stages\/2\/objective\/ratio\/highest +2 +Nemotron-Cascade 2, Eq\. 2-4$/m,
    );
    expect(stdout).toMatch(/^ {2}\/gates\/0\/repair\/max_response +151 tokens +sampled, trained$/m);
    expect(stdout).toMatch(/^ {2}distill +512 sequences +102400 tokens/m);
    expect(stdout).toMatch(
      /^ {2}teachers +2\.\d+ +2\.\d+ +2\.\d+ +\d+ frozen parameters of the largest teacher, F32$/m,
    );
  });

  it('says which teacher it cannot count, and refuses one that is a reward model', async () => {
    const teacher = { from_job: 'job_01234567890123456789012345' };
    const { code, said } = await explained(path(teacher));
    expect([code, said.memory[0]!.lines.find(({ name }) => name === 'teachers')?.what]).toEqual([
      0,
      expect.stringMatching(
        /not counted, its size is not known: best of job_01234567890123456789012345, chat$/,
      ),
    ]);
    const scalar = modelDirectory('scalar', { ...small, architectures: ['Qwen3ForSequenceClassification'] });
    const refused = await explained(path({ uri: scalar }));
    expect(refused.code).toBe(1);
    expect(refused.said.issues).toMatchObject([{ pointer: '/stages/1/domains/1/teacher' }]);
  });
});

describe('a spec that would be refused', () => {
  it('for its memory is said so where runners are known, and none where none is', async () => {
    const service = (runners: object[]) =>
      createClient({
        url: 'http://service.test',
        key: 'key',
        fetch: () =>
          Promise.resolve(Response.json({ data: runners, has_more: false, first_id: null, last_id: null })),
      });
    const runner = (memory_gb: number, accelerator = 'cpu') => ({
      id: 'run_01234567890123456789',
      name: `of-${memory_gb}`,
      accelerator,
      memory_gb,
      labels: {},
      version: 'test',
      alive: true,
      registered_at: '2026-01-01T00:00:00Z',
      last_seen_at: '2026-01-01T00:00:00Z',
    });
    const posted = {
      type: 'cascade',
      model: { init: { from: 'hf', uri: modelDirectory('qwen', qwen3) } },
      stages: [math],
    } as JobSpecInput;
    const said = async (...runners: object[]) => await explain(posted, service(runners));
    expect((await said()).issues).toEqual([]);
    expect((await said(runner(64, 'cuda'))).runners).toEqual([]);
    const small = await said(runner(8), runner(4), runner(64, 'cuda'));
    expect(small.runners?.map(({ fits }) => fits)).toEqual([false, false]);
    expect(small.issues).toMatchObject([
      { pointer: '/resources', message: expect.stringContaining('has 8 GB') as unknown },
    ]);
    const large = await said(runner(8), runner(32));
    expect(large.runners?.map(({ fits }) => fits)).toEqual([false, true]);
    expect(large.issues).toEqual([]);
  });

  it('for its lengths ends with 1 and names the field', async () => {
    const config = { ...shape, max_position_embeddings: 64 };
    const init = { from: 'config', config, tokenizer: { type: 'characters', alphabet: 'ab' } };
    const { code, said } = await explained(specFile('long.json', init));
    expect(code).toBe(1);
    expect(said.issues.map(({ pointer }) => pointer)).toEqual(['/stages/0/max_response']);
  });

  it('for its form is named by its places, as submit names them', async () => {
    const path = specFile('odd.json', { from: 'hf', uri: '/models/a' }, { sed: 1 });
    const { code, stderr } = await runCli(['explain', path]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/odd\.json is not a job spec:\n {2}\/sed: there is no such field/);
  });
});

describe('defaulted fields', () => {
  it('are those that were not given, of a job with one stage as of a cascade', () => {
    const posted = { type: 'sft', labels: {}, stage: { kind: 'sft', 'a/b': 1 } };
    const expanded = { type: 'sft', labels: {}, seed: 0, stages: [{ kind: 'sft', 'a/b': 1, lr: 1 }] };
    expect(defaultedFields(posted, expanded)).toEqual(['/seed', '/stages/0/lr']);
  });
});
