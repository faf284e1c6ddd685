// The largest tensor that a provider's device takes. WebGPU binds no more than its adapter's maxStorageBufferBindingSize,
// which ONNX Runtime's C API does not tell: 2 GiB less 4 bytes is what most desktop adapters have, and Dawn's own ceiling
// for buffers is not above it. An adapter that takes less says so when the tensor is written, which is before training too.
import type { ParameterLayout } from '../models/parameters.ts';
import type { Provider } from '../ort/runtime.ts';

export const largestTensorBytes: Readonly<Record<Provider, number>> = {
  cpu: Infinity,
  webgpu: 2 ** 31 - 4,
  cuda: Infinity,
};

/** A tensor of the model that the device could not hold in one buffer. */
export class TensorTooLarge extends Error {
  override readonly name = 'TensorTooLarge';
}

/** Throws TensorTooLarge, naming the tensor. Elements are float32. */
export function checkTensorSizes(
  { slots }: Pick<ParameterLayout, 'slots'>,
  provider: Provider,
  limit = largestTensorBytes[provider],
): void {
  for (const { name, shape, size } of slots.values()) {
    const bytes = size * Float32Array.BYTES_PER_ELEMENT;
    if (bytes > limit)
      throw new TensorTooLarge(
        `tensor "${name}" [${shape.join(', ')}] takes ${bytes} bytes in float32, a buffer on ${provider} holds ${limit} at most: ` +
          'train a model with a smaller vocabulary or width there, or this one on cuda or cpu',
      );
  }
}
