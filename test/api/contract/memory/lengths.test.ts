// Which lengths a spec allows: the longest that is trained, the longest that is sampled, what exceeds the positions.
import { describe, expect, it } from 'vitest';
import { lengthIssues, lengthsOf, stepTokens } from '../../../../api/contract/memory/lengths.ts';
import type { JobSpec } from '../../../../api/contract/spec.ts';
import { jobSpec } from '../../../../api/contract/spec.ts';

const model = { init: { from: 'hf', uri: '/models/a' } };
const cascade = (stages: object[], suites: object[] = []): JobSpec =>
  jobSpec.parse({ type: 'cascade', model, stages, evaluate: { suites } });

const sft = { kind: 'sft', data: 'rows', max_length: 3000, batch: 4 };
const math = { kind: 'math', data: 'tasks', steps: 1, max_response: 500, prompts_per_step: 3, rollouts: 8 };
const suite = { name: 'a', data: 'tasks', grader: { type: 'exact' }, sampling: { max_response: 700 } };

describe('lengths', () => {
  it('are of the longest stage that trains, and of the longest stage or suite that samples', () => {
    expect(lengthsOf(cascade([sft, math]))).toMatchObject({ trained: 3000, sampled: 501, sequences: 24 });
    expect(lengthsOf(cascade([sft, math], [suite]))).toMatchObject({
      trained: 3000,
      sampled: 701,
      sequences: Infinity,
    });
    expect(lengthsOf(cascade([sft]))).toMatchObject({ trained: 3000, sampled: 0 });
  });

  it('end at the positions of the model', () => {
    expect(lengthsOf(cascade([sft, math]), 256)).toMatchObject({ trained: 256, sampled: 256 });
  });

  it('of an sft job come from its one stage', () => {
    const spec = jobSpec.parse({ type: 'sft', model, stage: { kind: 'sft', data: 'rows' } });
    expect(lengthsOf(spec).limits).toMatchObject([{ pointer: '/stage/max_length', tokens: 16_384 }]);
    expect(stepTokens(spec, 2048)).toEqual([
      { stage: 'sft', pointer: '/stage', sequences: 256, tokens: 256 * 2048 },
    ]);
  });

  it('count the tokens of a step by its sequences', () => {
    expect(stepTokens(cascade([sft, math])).map(({ tokens }) => tokens)).toEqual([12_000, 12_000]);
  });

  it('that no prompt leaves room for are named; a supervised limit only ends rows', () => {
    const pointers = (positions: number): string[] =>
      lengthIssues(cascade([sft, math], [suite]), positions).map(({ pointer }) => pointer);
    expect(pointers(701)).toEqual([]);
    expect(pointers(700)).toEqual(['/evaluate/suites/0/sampling/max_response']);
    expect(pointers(500)).toEqual(['/stages/1/max_response', '/evaluate/suites/0/sampling/max_response']);
  });
});
