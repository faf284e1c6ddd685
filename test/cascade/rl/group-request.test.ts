// What a step asks for: exact halves in every batch and every domain, by draws that know the step alone.
import { describe, expect, it } from 'vitest';
import { missingOf, quotasOf, requestsFor } from '../../../runner/cascade/rl/group-request.ts';
import type { GroupRequest } from '../../../runner/cascade/rl/group-request.ts';
import { sharesOf } from '../../../runner/cascade/rl/shares.ts';
import type { Source } from '../../../runner/cascade/rl/source.ts';
import { TaskLine } from '../../../runner/cascade/rl/task-line.ts';
import { drawKey } from '../../../runner/engine/random/draws.ts';
import { groupOf } from '../../support/groups.ts';
import { sourceOf } from '../../support/source.ts';

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ prompt: String(i), answer: String(i) }));
const lineOf = (source: Source, filter?: ConstructorParameters<typeof TaskLine>[0]['filter']): TaskLine =>
  new TaskLine({ seed: 3, stage: source.domain, domain: source.domain, rows: source.rows.length, filter });
const drawAt = (step: number, round = 0) => ({ key: drawKey(3, 'modes/test', step), round });
const count = (requests: readonly GroupRequest[], source: Source, mode: string | undefined): number =>
  requests.filter((one) => one.source === source && one.mode === mode).length;

describe('halves', () => {
  it('are exact in every batch and every domain, over many mixtures', () => {
    let state = 99;
    const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
    for (let round = 0; round < 100; round += 1) {
      const sources = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, i) =>
        sourceOf(rowsOf(1 + Math.floor(random() * 30)), {
          domain: `d${i}`,
          weight: 0.1 + random(),
          mode: (['half_half', 'half_half', 'thinking', undefined] as const)[Math.floor(random() * 4)],
        }),
      );
      const prompts = 2 * (1 + Math.floor(random() * 24));
      const sharesAt = sharesOf(sources, prompts);
      const lines = sources.map((source) => lineOf(source));
      for (let step = 1; step <= 20; step += 1) {
        const quotas = quotasOf(sources, sharesAt(step));
        const batch = sources.flatMap((source, i) => requestsFor(source, lines[i]!, quotas, drawAt(step)));
        expect(batch).toHaveLength(prompts);
        sources.forEach((source, i) => {
          if (source.mode !== 'half_half')
            return expect(count(batch, source, source.mode)).toBe(sharesAt(step)[i]);
          expect(count(batch, source, 'thinking')).toBe(sharesAt(step)[i]! / 2);
          expect(count(batch, source, 'non_thinking')).toBe(sharesAt(step)[i]! / 2);
        });
      }
    }
  });

  it('meet a task in both modes over the epochs', () => {
    const source = sourceOf(rowsOf(8), { mode: 'half_half' });
    const line = lineOf(source);
    const seen = new Set<string>();
    for (let step = 1; step <= 30; step += 1)
      for (const { task, mode } of requestsFor(source, line, quotasOf([source], [4]), drawAt(step)))
        seen.add(`${task}/${mode}`);
    expect(seen.size).toBe(16);
  });

  it('are drawn by the step and the round, not by what was drawn before', () => {
    const source = sourceOf(rowsOf(64), { mode: 'half_half' });
    const modesAt = (step: number, round: number) =>
      requestsFor(source, lineOf(source), quotasOf([source], [32]), drawAt(step, round)).map(
        ({ mode }) => mode,
      );
    expect(modesAt(5, 0)).toEqual(modesAt(5, 0));
    expect(modesAt(5, 0)).not.toEqual(modesAt(6, 0));
    expect(modesAt(5, 0)).not.toEqual(modesAt(5, 1));
  });
});

describe('what is missing', () => {
  it('is asked for in its own mode', () => {
    const source = sourceOf(rowsOf(9), { mode: 'half_half' });
    const quotas = quotasOf([source], [4]);
    const had = (['thinking', 'thinking', 'non_thinking'] as const).map((mode, task) =>
      groupOf({ source, task, mode }, [1, 0]),
    );
    const missing = missingOf(quotas, had);
    expect(missing.map(({ mode, count: n }) => [mode, n])).toEqual([
      ['thinking', 0],
      ['non_thinking', 1],
    ]);
    expect(requestsFor(source, lineOf(source), missing, drawAt(1, 1))).toMatchObject([
      { mode: 'non_thinking' },
    ]);
  });

  it('halves what a line has left, where that is less', () => {
    const source = sourceOf(rowsOf(5), { mode: 'half_half' });
    const line = lineOf(source, { type: 'epoch', readmit_hard: 0, readmit_easy: 0 });
    line.take(0);
    [0, 1, 2, 3, 4].forEach((task) => line.visited(task, 'right'));
    const requests = requestsFor(source, line, quotasOf([source], [8]), drawAt(1));
    expect([count(requests, source, 'thinking'), count(requests, source, 'non_thinking')]).toEqual([2, 2]);
  });
});
