// How a model's graphs compute, beside its shape: what is trained, and what products round their operands to.

import type { HalfOperands } from '../ops/half-operands.ts';
import type { LoraConfig } from './lora.ts';

export interface ModelForm {
  /** Undefined: every tensor is trained. */
  readonly lora?: LoraConfig | undefined;
  /** Of products with weights. Undefined: products of float32. Norms, attention, softmax and loss are float32 always. */
  readonly operands?: HalfOperands | undefined;
}

/** Everything trained, in float32. */
export const plainForm: ModelForm = {};
