// A plan is told when it changes: a step whose micro-batches were seen before has no news.
import { expect, it } from 'vitest';
import { PlanNews } from '../../runner/cascade/plan-news.ts';
import type { LengthPlan } from '../../runner/engine/learner/memory-plan.ts';

const plan = (length: number, rows: number, activations: LengthPlan['activations'] = 'kept'): LengthPlan => ({
  length,
  sequences: rows,
  rows,
  activations,
  attentionChunk: null,
  bytes: length * rows,
});

it('tells a length once, again with more rows or run otherwise, and never with fewer', () => {
  const news = new PlanNews();
  expect(news.of([plan(8, 4), plan(16, 2)])).toEqual([
    { length: 8, rows: 4, activations: 'kept', attention_chunk: null, bytes: 32 },
    { length: 16, rows: 2, activations: 'kept', attention_chunk: null, bytes: 32 },
  ]);
  expect(news.of([plan(8, 4), plan(16, 1)])).toEqual([]);
  expect(news.of([plan(8, 8), plan(16, 2)])).toMatchObject([{ length: 8, rows: 8 }]);
  expect(news.of([plan(8, 2, 'recomputed')])).toMatchObject([{ length: 8, activations: 'recomputed' }]);
});
