// A reward model on a real, tiny backbone: what the job says and keeps, that it learns, that a run resumed at any of its
// snapshots ends with the same bits, and which rows it refuses.
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../api/contract/event.ts';
import type { ExpandedSpec } from '../../../api/contract/expand.ts';
import type { PreferenceRow } from '../../../api/contract/task.ts';
import { runRewardModel } from '../../../runner/cascade/reward-model.ts';
import { Paused } from '../../../runner/cascade/point.ts';
import { DataError } from '../../../runner/data/error.ts';
import { leakCheckedRuntime } from '../../engine/learner/support.ts';
import { comparable } from '../../support/recorded-run.ts';
import { copyOfState, recordingHost } from '../../support/recording-host.ts';
import type { Snapshot } from '../../support/recording-host.ts';
import { preferenceRows, rewardModelSpec, tinyValuedModel } from '../../support/tiny-preferences.ts';

const runtime = leakCheckedRuntime();

interface Given {
  readonly spec?: ExpandedSpec;
  readonly rows?: readonly PreferenceRow[];
  readonly from?: Snapshot;
  readonly pauseAsked?: () => boolean;
}

async function record({
  spec = rewardModelSpec(),
  rows = preferenceRows,
  from,
  pauseAsked = () => false,
}: Given = {}) {
  const model = await tinyValuedModel(runtime);
  const recording = recordingHost(model.learner);
  const { entries, snapshots } = recording;
  const samples = () => Promise.reject(new Error('a reward model has no samples'));
  const host = { ...recording, pauseAsked, samples };
  const data = { sft: () => [], tasks: () => rows };
  let error: unknown;
  try {
    if (from !== undefined) await model.learner.restore(from.state);
    await runRewardModel(spec, model, data, host, from && { ...from.point, ...from });
  } catch (thrown) {
    error = thrown;
  }
  const final = copyOfState(await model.learner.state());
  model[Symbol.dispose]();
  return { entries, snapshots, final, error };
}

/** The run's record, where it went well. */
async function recordWhole(given: Given = {}) {
  const { error, ...record_ } = await record(given);
  if (error !== undefined) throw error;
  return record_;
}

const cellOf = (entries: readonly Entry[], after: string, metric: string): number | undefined =>
  entries
    .flatMap((entry) => (entry.type === 'evaluation' && entry.after === after ? entry.cells : []))
    .find((cell) => cell.metric === metric)?.value;

describe('runRewardModel', () => {
  test('says what its rows came to, evaluates before and after, and keeps what it learns', async () => {
    const { entries, snapshots } = await recordWhole();
    expect(entries.map(({ type }) => type).filter((type) => type !== 'step')).toEqual([
      'preference_pairs',
      'evaluation',
      'stage_started',
      'micro_batches',
      'stage_finished',
      'evaluation',
    ]);
    expect(entries[0]).toEqual({
      ...{ type: 'preference_pairs', stage: 'reward_model', trained: 48, held_out: 12 },
      ...{ identical: 0, identical_rows: [], chosen_longer: 0 },
    });
    expect(snapshots.map(({ point, kind }) => [point.step, kind])).toEqual([
      [5, 'step'],
      [10, 'step'],
      [12, 'final'],
    ]);
    const [first] = entries.filter((entry) => entry.type === 'step');
    expect(Object.keys(first!.metrics).sort()).toEqual([
      ...['accuracy', 'grad_norm', 'loss', 'lr', 'margin', 'time_save', 'time_train'],
      ...['tokens', 'tokens_per_s', 'update_norm'],
    ]);
    // A head of zeros tells nothing apart.
    expect(first!.metrics).toMatchObject({ loss: Math.LN2, accuracy: 0.5, margin: 0 });
  });

  test('learns to order pairs that it was not trained on, by their length as these pairs are', async () => {
    const { entries } = await recordWhole({ spec: rewardModelSpec({ steps: 40 }) });
    expect(cellOf(entries, 'initial', 'accuracy')).toBe(0.5);
    expect(cellOf(entries, 'initial', 'length_correlation')).toBeUndefined();
    expect(cellOf(entries, 'reward_model', 'accuracy')).toBeGreaterThan(0.9);
    expect(cellOf(entries, 'reward_model', 'margin')).toBeGreaterThan(0.5);
    expect(cellOf(entries, 'reward_model', 'length_correlation')).toBeLessThan(-0.7);
  });

  test('ends with the same bits and says the same, resumed at any snapshot', async () => {
    const whole = await recordWhole();
    expect(whole.snapshots).toHaveLength(3);
    for (const snapshot of whole.snapshots) {
      const resumed = await recordWhole({ from: snapshot });
      expect(resumed.final).toEqual(whole.final);
      const said = comparable(resumed.entries);
      expect(said.length).toBeGreaterThan(0);
      expect(comparable(whole.entries).slice(-said.length)).toEqual(said);
    }
  });

  test('pauses between steps with what it has learnt, and goes on to the same end', async () => {
    const whole = await recordWhole();
    let asked = 0;
    const paused = await record({ pauseAsked: () => ++asked === 4 });
    expect(paused.error).toBeInstanceOf(Paused);
    expect(paused.snapshots.map(({ point, kind }) => [point.step, kind])).toEqual([[3, 'step']]);
    const resumed = await recordWhole({ from: paused.snapshots[0]! });
    expect(resumed.final).toEqual(whole.final);
  });

  test('evaluates within the stage where the spec asks for it', async () => {
    const spec = rewardModelSpec({}, { evaluate: { every_steps: 4 } });
    const { entries, final } = await recordWhole({ spec });
    const at = entries.flatMap((entry) => (entry.type === 'evaluation' ? [entry.step] : []));
    expect(at).toEqual([null, 4, 8, null]);
    expect(final).toEqual((await recordWhole()).final);
  });

  test('trains one epoch by default, over what is not held out', async () => {
    const { entries } = await recordWhole({ spec: rewardModelSpec({ steps: undefined, batch: 16 }) });
    expect(entries.filter(({ type }) => type === 'step')).toHaveLength(48 / 16);
  });

  test('without a held-out share evaluates nothing', async () => {
    const { entries } = await recordWhole({ spec: rewardModelSpec({ held_out: 0, steps: 1 }) });
    expect(entries.filter(({ type }) => type === 'evaluation')).toEqual([]);
    expect(entries[0]).toMatchObject({ trained: 60, held_out: 0 });
  });
});

describe('rows', () => {
  const failure = async (given: Given): Promise<unknown> => (await record(given)).error;

  test('that are too long are named, before anything is trained', async () => {
    const rows = preferenceRows.with(17, { prompt: '1+1=', chosen: '2', rejected: '2'.repeat(40) });
    const spec = rewardModelSpec({ max_length: 32 });
    const error = await failure({ rows, spec });
    expect(error).toBeInstanceOf(DataError);
    expect((error as Error).message).toMatch(
      /^stage reward_model, dataset ds_\w+, row 17, rejected: 46 tokens of prompt and answer, more than the limit of 32/,
    );
    expect(await failure({ rows: [{ ...rows[0]!, chosen: '3'.repeat(200) }] })).toMatchObject({
      message: expect.stringContaining('more than the limit of 128'),
    });
  });

  test('whose answers are the same are left out and named; what thinking differs in counts for nothing', async () => {
    const same = { prompt: '1+1=', chosen: '2', rejected: '2' };
    const thought = { prompt: '1+1=', chosen: '<think>1</think>\n\n2', rejected: '2' };
    const unknown = { prompt: '1+1=', chosen: '2x', rejected: '2y' };
    const rows = [same, ...preferenceRows, thought, unknown];
    const { entries } = await recordWhole({ rows, spec: rewardModelSpec({ steps: 1 }) });
    expect(entries[0]).toMatchObject({
      identical: 3,
      identical_rows: [0, 61, 62],
      trained: 48,
      held_out: 12,
    });
    expect(await failure({ rows: [same] })).toMatchObject({
      message: expect.stringMatching(/in all of its 1 rows both answers are the same/),
    });
  });

  test('of one prompt cannot be held out of each other', async () => {
    const rows = preferenceRows.map((row) => ({ ...row, prompt: '1+1=' }));
    expect(await failure({ rows })).toMatchObject({
      message: expect.stringMatching(/all pairs have one prompt.*give held_out 0/),
    });
  });
});
