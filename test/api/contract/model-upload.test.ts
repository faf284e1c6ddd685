// The families that the service takes are those that the engine computes.
import { expect, test } from 'vitest';
import { modelType } from '../../../api/contract/model-shape.ts';
import { modelConfigProblem } from '../../../api/contract/model-upload.ts';
import { parseModelConfig } from '../../../runner/engine/models/config.ts';

test('the engine names the same families', () => {
  const refusal = () => parseModelConfig({ model_type: 'none of them' }, 'config.json');
  expect(refusal).toThrow();
  try {
    refusal();
  } catch (error) {
    for (const type of modelType.options) expect((error as Error).message).toContain(type);
  }
  for (const type of modelType.options)
    expect(modelConfigProblem(JSON.stringify({ model_type: type }))).toBeUndefined();
});
