// The rule by which `best` is chosen: which suites of a domain count, which of their metrics, what a missing cell and a tie mean.
import { describe, expect, it } from 'vitest';
import { expandedSuite } from '../../../api/contract/expand.ts';
import { strengthIn, strongest } from '../../../api/contract/strongest.ts';

const suite = (name: string, domain: string, changes: object = {}) =>
  expandedSuite.parse({
    name,
    domain,
    data: `ds_${'0'.repeat(20)}`,
    ...('measure' in changes && changes.measure === 'loss'
      ? {}
      : { grader: { type: 'code', language: 'python' } }),
    ...changes,
  });
const cell = (
  name: string,
  metric: string,
  value: number,
  mode: 'thinking' | 'non_thinking' = 'non_thinking',
) => ({
  suite: name,
  metric,
  value,
  mode,
});

describe('how strong a model is in a domain', () => {
  it('is the mean over its suites and their modes of the first metric of each', () => {
    const suites = [
      suite('a', 'code', { k: 4, pass_at: [1, 4], modes: ['thinking', 'non_thinking'] }),
      suite('b', 'code', { measure: 'points' }),
      suite('c', 'code', {
        measure: 'win_rate',
        grader: { type: 'preference', model: `ckpt_${'0'.repeat(20)}` },
      }),
      suite('d', 'math'),
    ];
    const cells = [
      cell('a', 'avg@4', 0.1, 'thinking'),
      cell('a', 'avg@4', 0.2),
      cell('a', 'pass@4', 1),
      cell('b', 'points', 300),
      cell('b', 'points_share', 0.6),
      cell('c', 'win_rate', 0.7),
      cell('d', 'avg@1', 0.9),
    ];
    expect(strengthIn('code', suites, cells)).toBeCloseTo((0.1 + 0.2 + 0.6 + 0.7) / 4, 12);
    expect(strengthIn('math', suites, cells)).toBe(0.9);
    expect(strengthIn('chat', suites, cells)).toBeUndefined();
  });

  it('is the loss, negative, only where the domain has no other suite', () => {
    const loss = suite('l', 'code', { measure: 'loss' });
    expect(strengthIn('code', [loss], [cell('l', 'loss', 2.5)])).toBe(-2.5);
    const both = [loss, suite('a', 'code')];
    expect(strengthIn('code', both, [cell('l', 'loss', 2.5), cell('a', 'avg@1', 0.5)])).toBe(0.5);
  });

  it('is not known where a suite was not measured', () => {
    const suites = [suite('a', 'code'), suite('b', 'code')];
    expect(strengthIn('code', suites, [cell('a', 'avg@1', 1)])).toBeUndefined();
  });
});

describe('the strongest', () => {
  it('is the last of those that are equal, whatever the others lack', () => {
    const one = (name: string, strength?: number) => ({ name, strength });
    expect(strongest([one('a', 0.5), one('b', 0.7), one('c', 0.7), one('d', 0.2), one('e')])?.name).toBe('c');
    expect(strongest([one('a', -2), one('b', -3)])?.name).toBe('a');
    expect(strongest([one('a')])).toBeUndefined();
    expect(strongest([])).toBeUndefined();
  });
});
