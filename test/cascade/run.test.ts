// The cascade on a real, tiny model: what it emits and in which order, that a run resumed at any of its snapshots ends with
// the same bits, and that what must not teach does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { Diverged } from '../../runner/cascade/diverged.ts';
import { DataError } from '../../runner/data/error.ts';
import type { LearnerState } from '../../runner/engine/learner/learner.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { comparable, recordedRun } from '../support/recorded-run.ts';
import type { Snapshot } from '../support/recording-host.ts';
import { tinySpec } from '../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

const record = (
  spec: ExpandedSpec,
  from?: Snapshot,
  spoil: (state: LearnerState) => void = () => undefined,
) => recordedRun(runtime, spec, { from, spoil });

describe('runCascade', () => {
  it('evaluates before the first stage and after each, and ends every stage with a snapshot', async () => {
    const { entries, snapshots, samples } = await record(tinySpec());
    expect(
      entries
        .filter(({ type }) => type !== 'step' && type !== 'micro_batches')
        .map((entry) => ('after' in entry ? entry.after : entry.type)),
    ).toEqual([
      'initial',
      'stage_started',
      'stage_finished',
      'sft',
      'stage_started',
      'stage_finished',
      'math',
    ]);
    expect(snapshots.map(({ point, kind }) => [point.stageIndex, point.step, kind])).toEqual([
      [0, 4, 'step'],
      [0, 8, 'step'],
      [0, 12, 'step'],
      [0, 16, 'stage_end'],
      [1, 4, 'step'],
      [1, 6, 'final'],
    ]);
    // No length comes anew after the first step of a stage: its plans are told once.
    expect(entries.filter(({ type }) => type === 'micro_batches')).toMatchObject([
      { stage: 'sft', step: 1, plans: [{ length: 8, rows: 16, activations: 'kept', attention_chunk: null }] },
      { stage: 'math', step: 1, plans: [{ length: 8 }, { length: 16 }] },
    ]);
    expect(samples).toHaveLength(6 * 3);
    expect(
      samples.every(
        ({ prompt, status, reward }) => typeof prompt === 'string' && status === 'scored' && reward !== null,
      ),
    ).toBe(true);
  });

  it('refuses a stage whose prompts leave no room for its responses before anything is trained', async () => {
    const run = record(tinySpec({ math: { max_response: 10_000 } }));
    await expect(run).rejects.toThrow(
      /^stage math, dataset ds_\w+, row 0: \d+ prompt tokens and max_response 10000 exceed the model's \d+ positions/,
    );
    await expect(run).rejects.toBeInstanceOf(DataError);
    expect(runtime.stats().sessions).toBe(0);
  });

  it('learns the gold answers in the sft stage', async () => {
    const { entries } = await record(tinySpec({ sftSteps: 60, mathSteps: 1, everySteps: 100 }));
    const losses = entries.flatMap((entry) =>
      entry.type === 'step' && entry.stage === 'sft' ? [entry.metrics['loss']!] : [],
    );
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    const rewards = entries.flatMap((entry) => (entry.type === 'evaluation' ? [entry.cells[0]!.value] : []));
    expect(rewards[1]!).toBeGreaterThan(rewards[0]! + 0.1);
  });

  it('ends with the same bits and says the same, resumed at any snapshot', async () => {
    const whole = await record(tinySpec());
    for (const snapshot of whole.snapshots) {
      const resumed = await record(tinySpec(), snapshot);
      expect(resumed.final).toEqual(whole.final);
      const said = comparable(resumed.entries);
      expect(said.length).toBeGreaterThan(0);
      expect(comparable(whole.entries).slice(-said.length)).toEqual(said);
    }
  });

  it('ends with the same bits within a stage that is held to where it began', async () => {
    const spec = tinySpec({ everySteps: 2, math: { kl: 0.5, loss: 'sequence_mean', shaping: 'tanh' } });
    const whole = await record(spec);
    const kls = whole.entries.flatMap((entry) =>
      entry.type === 'step' && entry.stage === 'math' ? [entry.metrics['kl']!] : [],
    );
    // The first update finds the policy where it is held to.
    expect(kls[0]).toBe(0);
    expect(kls.at(-1)!).toBeGreaterThan(1e-5);
    const within = whole.snapshots.filter(({ point, kind }) => point.stageIndex === 1 && kind === 'step');
    expect(within).toHaveLength(2);
    for (const snapshot of within) {
      const resumed = await record(spec, snapshot);
      expect(resumed.final).toEqual(whole.final);
      const said = comparable(resumed.entries);
      expect(comparable(whole.entries).slice(-said.length)).toEqual(said);
      await expect(
        record(spec, {
          ...snapshot,
          carried: { ...snapshot.carried, stage: { state: snapshot.carried.stage.state } },
        }),
      ).rejects.toThrow(/holds no reference/);
    }
  });

  it('resets moments and step count at each stage', async () => {
    const { entries, snapshots } = await record(tinySpec());
    const updates = entries.filter((entry) => entry.type === 'step' && entry.stage === 'math').length;
    expect(updates).toBeGreaterThan(0);
    expect(snapshots.map(({ state }) => state.stepCount)).toEqual([
      4,
      8,
      12,
      16,
      expect.any(Number),
      updates,
    ]);
  });

  it('samples and trains the same policy: ratio 1, no gap, at a temperature other than 1 too', async () => {
    const { entries } = await record(tinySpec({ sftSteps: 10, math: { temperature: 0.6 } }));
    for (const entry of entries) {
      if (entry.type !== 'step' || entry.stage !== 'math') continue;
      expect(entry.metrics['gap_max']).toBeLessThan(1e-4);
      expect(entry.metrics['ratio_mean']).toBeGreaterThan(0.999);
      expect(entry.metrics['ratio_mean']).toBeLessThan(1.001);
    }
  });

  it('skips the update, by an event, where no token is left to learn from', async () => {
    // One token a response, the likeliest, which is not the end: all are truncated, and filter takes all out of the loss.
    const { entries, snapshots, final } = await record(
      tinySpec({ mathSteps: 2, math: { max_response: 1, temperature: 0.001, overlong: 'filter' } }),
    );
    expect(entries.filter(({ type }) => type === 'step_skipped')).toHaveLength(2);
    expect(final.weights).toEqual(snapshots.find(({ kind }) => kind === 'stage_end')!.state.weights);
  });

  it.each([
    ['the last step', { sftSteps: 1, mathSteps: 1 }],
    ['a step in the middle', { sftSteps: 3, mathSteps: 1 }],
  ])('has diverged where %s makes the weights no numbers, and keeps no snapshot of them', async (_, size) => {
    const spec = tinySpec({ ...size, everySteps: 1 });
    const stages = spec.stages.map((stage) => ({ ...stage, lr: 1e39 }));
    const run = record({ ...spec, stages });
    await expect(run).rejects.toThrow(/^stage sft, step 1: .*lower the learning rate \(it was 1e\+39\)/);
    await expect(run).rejects.toBeInstanceOf(Diverged);
  });

  it('asks for the mode that a stage names by the control that the spec names', async () => {
    const asking = (thinking_control: 'flags' | 'none') => {
      const spec = tinySpec({ math: { mode: 'thinking' } });
      return record({ ...spec, model: { ...spec.model, thinking_control } });
    };
    await expect(asking('none')).rejects.toThrow(
      /stage math, dataset .*, row 0: .*the only mode is non_thinking/,
    );
    const { samples } = await asking('flags');
    expect(samples.length).toBeGreaterThan(0);
  });

  it('has diverged where the model gives no probabilities: no evaluation, no step of it counts', async () => {
    await expect(record(tinySpec(), undefined, ({ weights }) => weights.fill(NaN))).rejects.toBeInstanceOf(
      Diverged,
    );
  });
});

describe('penalties', () => {
  it('that touch no rollout leave the run bit for bit as it was without them', async () => {
    const plain = await record(tinySpec({ mathSteps: 2, math: { language_mixing: 'off' } }));
    const guarded = await record(tinySpec({ mathSteps: 2, math: { language_mixing: 'batch_minimum' } }));
    expect(guarded.final.weights).toEqual(plain.final.weights);
    expect(guarded.samples).toEqual(plain.samples);
  });

  it('that touch some change what is learnt, and are named in the samples', async () => {
    const plain = await record(tinySpec({ mathSteps: 2 }));
    const controlled = await record(tinySpec({ mathSteps: 2, math: { length_control: 'group_relative' } }));
    expect(controlled.final.weights).not.toEqual(plain.final.weights);
    expect(controlled.samples.some(({ parts }) => 'length_control' in parts)).toBe(true);
    expect(plain.samples.some(({ parts }) => 'length_control' in parts)).toBe(false);
  });
});
