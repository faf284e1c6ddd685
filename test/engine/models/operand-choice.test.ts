// What products round their operands to where a runtime computes: tried on the device itself.
import { describe, expect, it } from 'vitest';
import { chooseOperands, precisionOf } from '../../../runner/engine/models/operand-choice.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';

it('is float32 on the cpu', async () => {
  const runtime = createRuntime();
  const choice = await chooseOperands(runtime);
  expect(choice).toEqual({ operands: undefined });
  expect(precisionOf(choice.operands)).toBe('float32');
  runtime[Symbol.dispose]();
});

describe.skipIf(noWebgpu)(`WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  it('is float16 where the adapter has it, else float32 with the reason; and nothing is left behind', async () => {
    const runtime = webgpuRuntime();
    const { operands, instead } = await chooseOperands(runtime);
    if (operands !== undefined) expect(operands).toEqual({ type: 'float16', emulated: false });
    else expect(instead).toMatch(/^this webgpu device does not multiply float16: .*f16/);
    expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
    runtime[Symbol.dispose]();
  });
});
