// What a teacher of fewer positions than the policy is refused for.
import { expect, it } from 'vitest';
import { checkRoom } from '../../../runner/cascade/distill/teacher-room.ts';
import { DataError } from '../../../runner/data/error.ts';

const source = (domain: string, ...lengths: number[]) => ({
  domain,
  data: `ds_${domain}`,
  prompts: new Map([[undefined, lengths.map((length) => new Int32Array(length))]]),
});
const scored = {
  stage: { name: 'distill', max_response: 20 },
  sources: [source('math', 4, 12, 13), source('code', 30)],
  teachers: [
    { domain: 'math', teacher: 'stage:sft' },
    { domain: 'code', teacher: 'ckpt_b' },
  ],
};
const check = (teacher: string, maxPositions: number) => () =>
  checkRoom(scored, teacher, { config: { maxPositions } });

it('needs positions for the longest prompt of its domains and a whole response', () => {
  expect(check('stage:sft', 33)).not.toThrow();
  expect(check('stage:sft', 32)).toThrow(DataError);
  expect(check('stage:sft', 32)).toThrow(
    'stage distill, domain math, dataset ds_math, row 2: 13 prompt tokens and max_response 20 exceed the 32 positions of teacher stage:sft: lower max_response',
  );
});

it('is not asked of prompts that another teacher scores', () => {
  expect(check('ckpt_b', 50)).not.toThrow();
  expect(check('ckpt_b', 49)).toThrow('domain code');
});
