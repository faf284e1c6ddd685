// The small world's rows against their graders, its parts against each other, its files against a second making, its spec
// against the contract.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import type { Grader } from '../../api/contract/grader.ts';
import { askedText } from '../../api/contract/prompt-text.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { stagesOf } from '../../api/contract/stages-of.ts';
import type { CodeRow, IoPair } from '../../api/contract/task.ts';
import { rowSchemas } from '../../api/contract/task.ts';
import { chatRule } from '../../examples/small-world/chat-rule.ts';
import type { DomainName, Item } from '../../examples/small-world/domain.ts';
import { thought } from '../../examples/small-world/domain.ts';
import { worldFiles } from '../../examples/small-world/generate.ts';
import { createWorld, domains } from '../../examples/small-world/world.ts';
import { parseTokenizerFiles } from '../../runner/engine/tokenizer/files.ts';
import { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import { createGrader } from '../../runner/rewards/grade.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import { openSandbox } from '../../runner/rewards/sandbox/open.ts';

const world = createWorld();
const files = worldFiles(world);
const means = createMeans({ sandbox: await openSandbox({ slots: 2 }) });
afterAll(() => means.close());

const itemsOf = (name: DomainName): readonly Item[] => Object.values<readonly Item[]>(world[name]).flat();

async function valuesOf(grader: Grader, items: readonly Item[], which: 'good' | 'flawed'): Promise<number[]> {
  const verifier = createGrader(grader, means);
  const outcomes = await Promise.all(
    items.map(({ row, ...item }) => verifier.grade(row, thought(item[which]))),
  );
  return outcomes.map((outcome) => (outcome.status === 'unscored' ? NaN : outcome.value));
}

const rule = { type: 'instructions', check: 'strict' } as const;
const chatItems = (): Item[] => world.chat.heldout.map((item) => ({ ...item, row: chatRule(item.row) }));

describe('the tasks', () => {
  it.each([
    ['instruction', rule, itemsOf('instruction')],
    ['math', { type: 'math' }, itemsOf('math')],
    ['swe', { type: 'swe', reward: 'lexical' }, itemsOf('swe')],
    ['chat, by its rule', rule, chatItems()],
    ['code', { type: 'code', language: 'javascript' }, world.code.heldout.slice(0, 8)],
  ] as const)('%s: a good response gets 1, a flawed one less', async (_, grader, items) => {
    expect(items.length).toBeGreaterThan(0);
    expect(new Set(await valuesOf(grader, items, 'good'))).toEqual(new Set([1]));
    const flawed = await valuesOf(grader, items, 'flawed');
    expect(flawed.filter((value) => value === 1)).toEqual([]);
    expect(flawed.some(Number.isNaN)).toBe(false);
  });

  it('code: every good program passes its tests, no flawed one does', () => {
    const passes = ({ tests }: CodeRow, program: string): boolean =>
      (tests as readonly IoPair[]).every(
        ({ input, output }) => String(runInNewContext(`${program}; f(${input})`)) === output,
      );
    for (const { row, good, flawed } of world.code.heldout) {
      expect(passes(row, good.answer)).toBe(true);
      expect(passes(row, flawed.answer)).toBe(false);
    }
  });

  it.each(domains.map(({ name }) => name))('%s: no prompt is in two parts, or in one part twice', (name) => {
    const prompts = itemsOf(name).map(({ row }) => askedText(row.prompt));
    expect(new Set(prompts).size).toBe(prompts.length);
    expect(world[name].heldout.length).toBeGreaterThanOrEqual(500);
    expect(world[name].eval).toHaveLength(100);
  });
});

describe('the files', () => {
  it('are the same when they are made again', () => {
    expect(worldFiles(createWorld())).toEqual(files);
  });

  it('hold rows of their kinds', () => {
    const kinds = {
      chat: 'preference',
      instruction: 'instruction',
      math: 'math',
      code: 'code',
      swe: 'swe',
    } as const;
    for (const [file, text] of Object.entries(files)) {
      if (!file.endsWith('.jsonl')) continue;
      const named = file.split('-')[0] as keyof typeof kinds | 'sft.jsonl';
      const kind =
        named === 'sft.jsonl' ? 'sft' : file.startsWith('chat-rule') ? 'instruction' : kinds[named];
      for (const line of text.trimEnd().split('\n')) rowSchemas[kind].parse(JSON.parse(line));
    }
  });

  it('hold a tokenizer that knows every text, and gives it back', () => {
    const tokenizer = new Tokenizer(
      parseTokenizerFiles(
        { tokenizer: files['tokenizer/tokenizer.json']!, config: files['tokenizer/tokenizer_config.json']! },
        'small world',
      ),
    );
    const [unknown] = tokenizer.encodeExact('<|unk|>');
    for (const row of rowsOf(files, 'sft.jsonl')) {
      const text = tokenizer.renderChat(rowSchemas.sft.parse(row).messages, { addGenerationPrompt: false });
      const ids = tokenizer.encodeRendered(text);
      expect(ids).not.toContain(unknown);
      expect(tokenizer.decode(ids, { keepSpecial: true })).toBe(text);
    }
  });

  it.each([
    ['small-world.json', ['sft', 'rlhf', 'instruction', 'math', 'code', 'swe']],
    ['small-world-rewards.json', ['reward_model']],
  ])('make %s a spec that the contract takes', (file, kinds) => {
    const text = readFileSync(resolve(import.meta.dirname, '../../examples', file), 'utf8');
    const spec = jobSpec.parse(JSON.parse(text));
    expect(stagesOf(spec).map(({ stage }) => stage.kind)).toEqual(kinds);
    const referenced = [...text.matchAll(/"file:small-world\/data\/([^"]+)"/g)].map(([, name]) => name!);
    expect(referenced.filter((name) => !(name in files))).toEqual([]);
  });
});

const rowsOf = (from: Record<string, string>, file: string): unknown[] =>
  from[file]!.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
