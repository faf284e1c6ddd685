// The families that the service takes are those that the engine computes.
import { expect, test } from 'vitest';
import { modelType } from '../../../api/contract/model-shape.ts';
import { modelConfigProblem, modelFile, weightsName } from '../../../api/contract/model-upload.ts';
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

test('a file has a size of which a store’s parts fit in memory', () => {
  const sizes = (size: number) => modelFile.safeParse({ name: weightsName, size, sha256: 'a'.repeat(64) });
  expect(sizes(4e11).success).toBe(true);
  for (const size of [6e11, Number.MAX_SAFE_INTEGER, -1, 0.5]) expect(sizes(size).success).toBe(false);
});
