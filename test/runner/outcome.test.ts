// Which reason a trainer gives for what was thrown in it.
import { expect, test } from 'vitest';
import { TeacherTooFar } from '../../runner/cascade/distill/distance.ts';
import { TeacherTooShort } from '../../runner/cascade/distill/room.ts';
import { Diverged } from '../../runner/cascade/diverged.ts';
import { DataError } from '../../runner/data/error.ts';
import { UnfitWeights } from '../../runner/engine/models/parameters.ts';
import { InvalidModel } from '../../runner/trainer/load-model.ts';
import { failedOutcome } from '../../runner/trainer/outcome.ts';

test.each([
  [new DataError('x'), 'invalid_data'],
  [new InvalidModel('x'), 'invalid_model'],
  [new UnfitWeights('x'), 'invalid_model'],
  [new Diverged('x'), 'diverged'],
  [new TeacherTooFar('x'), 'teacher_too_far'],
  [new TeacherTooShort('x'), 'invalid_model'],
  [new RangeError('Array buffer allocation failed'), 'out_of_memory'],
  [new RangeError('x'), 'trainer_crashed'],
  ['x', 'trainer_crashed'],
])('%s', (error, reason) => {
  expect(failedOutcome(error)).toMatchObject({ type: 'failed', reason });
});
