// Llama, Qwen2 and Qwen3 in float64 loops, forward and backward by hand, from a HF `config.json` and tensors by HF name:
// what the engine's logits and gradients are checked against. Read off the published architectures and sharing nothing
// with the engine, so that a mistake in its mapping of configurations or names shows too. One token at a time, slow.

import { affine, affineBackward, sigmoid, silu, softmax, sum, zeros } from './float64-rows.ts';
import type { Rows, Vector } from './float64-rows.ts';

export interface HfConfig {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim?: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly rope_scaling?: null | {
    readonly factor: number;
    readonly low_freq_factor: number;
    readonly high_freq_factor: number;
    readonly original_max_position_embeddings: number;
  };
  readonly tie_word_embeddings: boolean;
}

export type Tensors = ReadonlyMap<string, { readonly data: ArrayLike<number> }>;

/** Tensors as PEFT names them, and lora_alpha / r. */
export interface LoraAdapters {
  readonly tensors: Tensors;
  readonly scale: number;
}

/** The base's inverse frequencies, those of Llama 3.1 changed as its reference code does: by wavelength. */
function inverseFrequencies(config: HfConfig, headSize: number): number[] {
  const plain = Array.from({ length: headSize / 2 }, (_, i) => 1 / config.rope_theta ** ((2 * i) / headSize));
  const scaling = config.rope_scaling;
  if (!scaling) return plain;
  const longest = scaling.original_max_position_embeddings / scaling.low_freq_factor;
  const shortest = scaling.original_max_position_embeddings / scaling.high_freq_factor;
  return plain.map((frequency) => {
    const wavelength = (2 * Math.PI) / frequency;
    if (wavelength < shortest) return frequency;
    if (wavelength > longest) return frequency / scaling.factor;
    const smooth =
      (scaling.original_max_position_embeddings / wavelength - scaling.low_freq_factor) /
      (scaling.high_freq_factor - scaling.low_freq_factor);
    return ((1 - smooth) * frequency) / scaling.factor + smooth * frequency;
  });
}

/** What one block leaves for its backward. */
interface BlockTrace {
  readonly input: Rows;
  readonly attentionInput: Rows;
  /** Before the norm of each head, and after it; rotated. */
  readonly rawQ: Rows;
  readonly rawK: Rows;
  readonly q: Rows;
  readonly k: Rows;
  readonly v: Rows;
  /** [H][S][s <= S]. */
  readonly probabilities: Rows[];
  readonly context: Rows;
  readonly middle: Rows;
  readonly mlpInput: Rows;
  readonly gate: Rows;
  readonly up: Rows;
  readonly gated: Rows;
}

export class Float64Decoder {
  readonly #config: HfConfig;
  readonly #weights: Tensors;
  readonly #adapters: LoraAdapters | undefined;
  readonly #gradients = new Map<string, Float64Array>();
  readonly #headSize: number;
  readonly #frequencies: number[];

  constructor(config: HfConfig, weights: Tensors, adapters?: LoraAdapters) {
    this.#config = config;
    this.#weights = new Map([...weights, ...(adapters?.tensors ?? [])]);
    this.#adapters = adapters;
    this.#headSize = config.head_dim ?? config.hidden_size / config.num_attention_heads;
    this.#frequencies = inverseFrequencies(config, this.#headSize);
    for (const [name, { data }] of this.#weights) this.#gradients.set(name, new Float64Array(data.length));
  }

  /** Logits [S][V]. */
  logits(ids: readonly number[]): Rows {
    return this.#forward(ids).logits;
  }

  /** Log-probability of each token given those before it, at the temperature; 0 for the first. */
  logProbs(ids: readonly number[], temperature: number): number[] {
    const { logits } = this.#forward(ids);
    return ids.map((id, t) => (t === 0 ? 0 : Math.log(softmax(logits[t - 1]!, 1 / temperature)[id]!)));
  }

  /** Gradients by HF name of all that `addGradient` was given. */
  get gradients(): ReadonlyMap<string, Float64Array> {
    return this.#gradients;
  }

  /** Adds the gradient of - sum over t of weights[t] * log pi(ids[t]). */
  addGradient(ids: readonly number[], weights: readonly number[], temperature: number): void {
    const { logits, hidden, traces } = this.#forward(ids);
    const dLogits = logits.map((row, t) => {
      const weight = t + 1 < ids.length ? weights[t + 1]! : 0;
      const probabilities = softmax(row, 1 / temperature);
      return probabilities.map((p, word) => (weight / temperature) * (p - (word === ids[t + 1] ? 1 : 0)));
    });
    const normal = hidden.map((row) => this.#norm(row, 'model.norm.weight'));
    const dNormal = this.#linearBackward(normal, this.#headName, dLogits);
    let dx = this.#normBackward(hidden, 'model.norm.weight', dNormal);
    for (let layer = traces.length - 1; layer >= 0; layer--)
      dx = this.#blockBackward(traces[layer]!, `model.layers.${layer}.`, dx);
    const table = this.#gradients.get('model.embed_tokens.weight')!;
    const width = this.#config.hidden_size;
    ids.forEach((id, t) => dx[t]!.forEach((d, i) => (table[id * width + i]! += d)));
  }

  get #headName(): string {
    return this.#config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  }

  #tensor(name: string): ArrayLike<number> {
    const tensor = this.#weights.get(name);
    if (tensor === undefined) throw new Error(`the reference needs "${name}"`);
    return tensor.data;
  }

  #forward(ids: readonly number[]): { logits: Rows; hidden: Rows; traces: BlockTrace[] } {
    const width = this.#config.hidden_size;
    const table = this.#tensor('model.embed_tokens.weight');
    let hidden = ids.map((id) => Float64Array.from({ length: width }, (_, i) => table[id * width + i]!));
    const traces: BlockTrace[] = [];
    for (let layer = 0; layer < this.#config.num_hidden_layers; layer++) {
      const { trace, output } = this.#block(hidden, `model.layers.${layer}.`);
      traces.push(trace);
      hidden = output;
    }
    const normal = hidden.map((row) => this.#norm(row, 'model.norm.weight'));
    return { logits: this.#linear(normal, this.#headName), hidden, traces };
  }

  #block(input: Rows, prefix: string): { trace: BlockTrace; output: Rows } {
    const biased = this.#config.model_type === 'qwen2';
    const normed = this.#config.model_type === 'qwen3';
    const attentionInput = input.map((row) => this.#norm(row, `${prefix}input_layernorm.weight`));
    const project = (name: string): Rows =>
      this.#linear(
        attentionInput,
        `${prefix}self_attn.${name}.weight`,
        biased ? `${prefix}self_attn.${name}.bias` : undefined,
      );
    const [rawQ, rawK, v] = [project('q_proj'), project('k_proj'), project('v_proj')];
    const turn = (raw: Rows, norm: string): Rows =>
      raw.map((row, t) => {
        const heads = normed ? this.#headNorm(row, `${prefix}self_attn.${norm}.weight`) : row;
        return this.#rotate(heads, t);
      });
    const [q, k] = [turn(rawQ, 'q_norm'), turn(rawK, 'k_norm')];
    const { context, probabilities } = this.#attend(q, k, v);
    const attended = this.#linear(context, `${prefix}self_attn.o_proj.weight`);
    const middle = sum(input, attended);
    const mlpInput = middle.map((row) => this.#norm(row, `${prefix}post_attention_layernorm.weight`));
    const gate = this.#linear(mlpInput, `${prefix}mlp.gate_proj.weight`);
    const up = this.#linear(mlpInput, `${prefix}mlp.up_proj.weight`);
    const gated = gate.map((row, t) => row.map((z, i) => z * sigmoid(z) * up[t]![i]!));
    const trace: BlockTrace = {
      input,
      attentionInput,
      rawQ,
      rawK,
      q,
      k,
      v,
      probabilities,
      context,
      middle,
      mlpInput,
      gate,
      up,
      gated,
    };
    return { trace, output: sum(middle, this.#linear(gated, `${prefix}mlp.down_proj.weight`)) };
  }

  #blockBackward(trace: BlockTrace, prefix: string, dOutput: Rows): Rows {
    const dGated = this.#linearBackward(trace.gated, `${prefix}mlp.down_proj.weight`, dOutput);
    const dUp = dGated.map((row, t) => row.map((d, i) => d * silu(trace.gate[t]![i]!)));
    const dGate = dGated.map((row, t) =>
      row.map((d, i) => {
        const z = trace.gate[t]![i]!;
        return d * trace.up[t]![i]! * sigmoid(z) * (1 + z * (1 - sigmoid(z)));
      }),
    );
    const dMlpInput = sum(
      this.#linearBackward(trace.mlpInput, `${prefix}mlp.gate_proj.weight`, dGate),
      this.#linearBackward(trace.mlpInput, `${prefix}mlp.up_proj.weight`, dUp),
    );
    const postNorm = `${prefix}post_attention_layernorm.weight`;
    const dMiddle = sum(dOutput, this.#normBackward(trace.middle, postNorm, dMlpInput));
    const dContext = this.#linearBackward(trace.context, `${prefix}self_attn.o_proj.weight`, dMiddle);
    const dInput = this.#projectionsBackward(trace, prefix, this.#attendBackward(trace, dContext));
    return sum(dMiddle, this.#normBackward(trace.input, `${prefix}input_layernorm.weight`, dInput));
  }

  /** From the rotated queries and keys, and the values, to what the projections were given. */
  #projectionsBackward(trace: BlockTrace, prefix: string, d: { q: Rows; k: Rows; v: Rows }): Rows {
    const biased = this.#config.model_type === 'qwen2';
    const unturn = (rows: Rows, raw: Rows, norm: string): Rows =>
      rows.map((row, t) => {
        const heads = this.#rotate(row, -t);
        if (this.#config.model_type !== 'qwen3') return heads;
        return this.#headNormBackward(raw[t]!, `${prefix}self_attn.${norm}.weight`, heads);
      });
    const back = (name: string, rows: Rows): Rows =>
      this.#linearBackward(
        trace.attentionInput,
        `${prefix}self_attn.${name}.weight`,
        rows,
        biased ? `${prefix}self_attn.${name}.bias` : undefined,
      );
    const ofQ = back('q_proj', unturn(d.q, trace.rawQ, 'q_norm'));
    const ofK = back('k_proj', unturn(d.k, trace.rawK, 'k_norm'));
    return sum(sum(ofQ, ofK), back('v_proj', d.v));
  }

  /** y = W x + bias + scale * B (A x). */
  #linear(x: Rows, name: string, biasName?: string): Rows {
    const bias = biasName === undefined ? undefined : this.#tensor(biasName);
    const y = affine(x, this.#tensor(name), bias);
    const low = this.#adapterNames(name);
    if (low === undefined) return y;
    const { scale } = this.#adapters!;
    const ofAdapter = affine(affine(x, this.#tensor(low.a)), this.#tensor(low.b));
    return sum(
      y,
      ofAdapter.map((row) => row.map((value) => scale * value)),
    );
  }

  #linearBackward(x: Rows, name: string, dOut: Rows, biasName?: string): Rows {
    if (biasName !== undefined) {
      const biasGradient = this.#gradients.get(biasName)!;
      for (const row of dOut) row.forEach((d, o) => (biasGradient[o]! += d));
    }
    const dx = affineBackward(x, this.#tensor(name), dOut, this.#gradients.get(name)!);
    const low = this.#adapterNames(name);
    if (low === undefined) return dx;
    const [a, b] = [this.#tensor(low.a), this.#tensor(low.b)];
    const scaled = dOut.map((row) => row.map((d) => d * this.#adapters!.scale));
    const dLow = affineBackward(affine(x, a), b, scaled, this.#gradients.get(low.b)!);
    return sum(dx, affineBackward(x, a, dLow, this.#gradients.get(low.a)!));
  }

  #adapterNames(weightName: string): { a: string; b: string } | undefined {
    const prefix = `base_model.model.${weightName.replace('.weight', '')}`;
    const names = { a: `${prefix}.lora_A.weight`, b: `${prefix}.lora_B.weight` };
    return this.#adapters?.tensors.has(names.a) ? names : undefined;
  }

  #inverseRms(row: Vector): number {
    let squares = 0;
    for (const x of row) squares += x * x;
    return 1 / Math.sqrt(squares / row.length + this.#config.rms_norm_eps);
  }

  #norm(row: Vector, name: string): Vector {
    const weight = this.#tensor(name);
    const inverse = this.#inverseRms(row);
    return row.map((x, i) => x * inverse * weight[i]!);
  }

  #normBackward(x: Rows, name: string, dOut: Rows): Rows {
    return x.map((row, t) => this.#normRowBackward(row, name, dOut[t]!));
  }

  /** y_i = w_i x_i r, r = (mean x^2 + eps)^-1/2, dr/dx_j = - r^3 x_j / n. */
  #normRowBackward(row: Vector, name: string, dOut: Vector): Vector {
    const weight = this.#tensor(name);
    const gradient = this.#gradients.get(name)!;
    const inverse = this.#inverseRms(row);
    let dInverse = 0;
    for (let i = 0; i < row.length; i++) {
      gradient[i]! += dOut[i]! * row[i]! * inverse;
      dInverse += dOut[i]! * weight[i]! * row[i]!;
    }
    return row.map((x, i) => dOut[i]! * weight[i]! * inverse - (dInverse * inverse ** 3 * x) / row.length);
  }

  #headNorm(row: Vector, name: string): Vector {
    return this.#perHead(row.length, (from, to) => this.#norm(row.slice(from, to), name));
  }

  #headNormBackward(row: Vector, name: string, dOut: Vector): Vector {
    return this.#perHead(row.length, (from, to) =>
      this.#normRowBackward(row.slice(from, to), name, dOut.slice(from, to)),
    );
  }

  #perHead(width: number, of: (from: number, to: number) => Vector): Vector {
    const out = new Float64Array(width);
    for (let from = 0; from < width; from += this.#headSize) out.set(of(from, from + this.#headSize), from);
    return out;
  }

  /** Element i of a head pairs with i + hd/2. A negative position turns back. */
  #rotate(row: Vector, position: number): Vector {
    const half = this.#headSize / 2;
    const out = new Float64Array(row.length);
    for (let head = 0; head < row.length; head += this.#headSize) {
      for (let i = 0; i < half; i++) {
        const angle = position * this.#frequencies[i]!;
        const [a, b] = [row[head + i]!, row[head + half + i]!];
        out[head + i] = a * Math.cos(angle) - b * Math.sin(angle);
        out[head + half + i] = b * Math.cos(angle) + a * Math.sin(angle);
      }
    }
    return out;
  }

  /** First element of the key head that query head `head` looks at. */
  #keyOffset(head: number): number {
    const { num_attention_heads: heads, num_key_value_heads: keyHeads } = this.#config;
    return Math.floor(head / (heads / keyHeads)) * this.#headSize;
  }

  #attend(q: Rows, k: Rows, v: Rows): { context: Rows; probabilities: Rows[] } {
    const hd = this.#headSize;
    const context = zeros(q.length, q[0]!.length);
    const probabilities: Rows[] = [];
    for (let head = 0; head < this.#config.num_attention_heads; head++) {
      const [at, key] = [head * hd, this.#keyOffset(head)];
      const ofHead = q.map((query, t) => {
        const scores = new Float64Array(t + 1);
        for (let s = 0; s <= t; s++)
          for (let i = 0; i < hd; i++) scores[s]! += query[at + i]! * k[s]![key + i]!;
        return softmax(scores, 1 / Math.sqrt(hd));
      });
      ofHead.forEach((row, t) =>
        row.forEach((p, s) => {
          for (let i = 0; i < hd; i++) context[t]![at + i]! += p * v[s]![key + i]!;
        }),
      );
      probabilities.push(ofHead);
    }
    return { context, probabilities };
  }

  #attendBackward({ q, k, v, probabilities }: BlockTrace, dContext: Rows): { q: Rows; k: Rows; v: Rows } {
    const hd = this.#headSize;
    const d = {
      q: zeros(q.length, q[0]!.length),
      k: zeros(k.length, k[0]!.length),
      v: zeros(v.length, v[0]!.length),
    };
    probabilities.forEach((ofHead, head) => {
      const [at, key] = [head * hd, this.#keyOffset(head)];
      ofHead.forEach((row, t) => {
        const dRow = row.map((_, s) => {
          let total = 0;
          for (let i = 0; i < hd; i++) total += dContext[t]![at + i]! * v[s]![key + i]!;
          return total;
        });
        const mean = row.reduce((total, p, s) => total + p * dRow[s]!, 0);
        row.forEach((p, s) => {
          const dScore = (p * (dRow[s]! - mean)) / Math.sqrt(hd);
          for (let i = 0; i < hd; i++) {
            d.v[s]![key + i]! += p * dContext[t]![at + i]!;
            d.q[t]![at + i]! += dScore * k[s]![key + i]!;
            d.k[s]![key + i]! += dScore * q[t]![at + i]!;
          }
        });
      });
    });
    return d;
  }
}
