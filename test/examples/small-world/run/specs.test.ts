// The specs of a run, made from the example's own files: seeds and labels, the checkpoints that only a run knows, held-out rows in the
// place of those that a run evaluates.
import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import {
  backboneSpec,
  cascadeSpec,
  heldOutSpec,
  rewardModelSpec,
  wantsRewardModel,
  worldFiles,
} from '../../../../examples/small-world/run/specs.ts';

const examples = resolve(import.meta.dirname, '../../../../examples/small-world');
const world = worldFiles();
const seeded = { seed: 5, labels: { 'small-world': 'a.seed-5.b' } };
const checkpoint = `ckpt_${'1'.repeat(26)}`;

// Specs are checked against their files, which the generator writes.
beforeAll(() => {
  if (!existsSync(`${examples}/data/tokenizer`)) execFileSync(process.execPath, [`${examples}/generate.ts`]);
});

describe('specs of the small world', () => {
  it('carry the seed and the label of their run', () => {
    const { spec, localData } = cascadeSpec(world, seeded, checkpoint);
    expect(spec).toMatchObject({ type: 'cascade', ...seeded });
    expect(localData.length).toBeGreaterThan(6);
  });

  it('name the reward model where the file leaves it open', () => {
    expect(wantsRewardModel(world)).toBe(true);
    const { spec } = cascadeSpec(world, seeded, checkpoint);
    expect(JSON.stringify(spec)).toContain(checkpoint);
    expect(JSON.stringify(spec)).not.toContain('0'.repeat(24));
  });

  it('train the supervised stage alone for the backbone of the reward model', () => {
    const { spec } = backboneSpec(world, seeded);
    expect(spec).toMatchObject({ type: 'sft', ...seeded, stage: { kind: 'sft' } });
    expect(rewardModelSpec(world, seeded, checkpoint).spec).toMatchObject({
      type: 'reward_model',
      ...seeded,
    });
  });

  it('evaluate the same suites on held-out rows, eight samples a task', () => {
    const { spec, localData } = heldOutSpec(world, seeded, checkpoint);
    const cascade = cascadeSpec(world, seeded, checkpoint).spec;
    expect(spec).toMatchObject({ type: 'evaluate', model: { init: { from: 'checkpoint', checkpoint } } });
    expect(spec.evaluate!.suites!.map(({ name }) => name)).toEqual(
      cascade.evaluate!.suites!.map(({ name }) => name),
    );
    for (const suite of spec.evaluate!.suites!) expect(suite).toMatchObject({ k: 8 });
    expect(localData.every(({ file }) => file.endsWith('-heldout.jsonl'))).toBe(true);
  });
});
