// A prepared run of a device session. Before each run it binds again what may have changed: ONNX Runtime copies a host
// input to the device when it is bound, and a device tensor may have another buffer than at the last run.
// In place: kernels of WebGPU may not write to a buffer that the same dispatch reads, so an output that is also an input
// goes to a spare buffer, and the tensor takes that over when the run has succeeded (ADR 0011).
import { call, callAsync, release, type Pointer } from './api.ts';
import type { Bound, BoundTensor, NativeTensor, PreparedRun } from './backend.ts';
import type { DeviceBuffer, DeviceHeap } from './device-heap.ts';
import { DevicePlace } from './device-memory.ts';
import type { Turns } from './turns.ts';

export interface DeviceRunContext {
  readonly turns: Turns;
  readonly heap: DeviceHeap;
  readonly runOptions: Pointer;
}

interface Exchange {
  readonly place: DevicePlace;
  readonly written: DeviceBuffer;
}

export class DeviceRun implements PreparedRun {
  readonly #bound: Bound<Pointer, Pointer>;
  readonly #context: DeviceRunContext;
  readonly #binding: Pointer;
  /** Tensors whose new contents go to a spare buffer. */
  readonly #inPlace: ReadonlySet<NativeTensor<Pointer>>;
  readonly #overwritten: readonly DevicePlace[];
  /** Buffer bound under each name, 'host' for a host output. */
  readonly #known = new Map<string, DeviceBuffer | 'host'>();

  constructor(bound: Bound<Pointer, Pointer>, context: DeviceRunContext) {
    this.#bound = bound;
    this.#context = context;
    const read = new Set(bound.inputs.map(({ tensor }) => tensor));
    const written = bound.outputs.map(({ tensor }) => tensor);
    const shared = bound.sharedBuffers
      ? []
      : written.filter((tensor) => tensor instanceof DevicePlace && read.has(tensor));
    this.#inPlace = new Set(shared);
    this.#overwritten = written.filter((tensor) => tensor instanceof DevicePlace);
    this.#binding = call('CreateIoBinding', bound.session);
  }

  run(): Promise<void> {
    return this.#context.turns.inTurn(async () => {
      const exchanges = this.#bind();
      const pinned = [this.#bound];
      try {
        const { session } = this.#bound;
        await callAsync('RunWithBinding', pinned, session, this.#context.runOptions, this.#binding);
        this.#takeOver(exchanges);
      } catch (error) {
        this.#giveUp(exchanges);
        throw error;
      }
    });
  }

  runSync(): void {
    if (this.#context.turns.busy) {
      throw new Error('a run is going on the device, which does one at a time: await it first');
    }
    const exchanges = this.#bind();
    try {
      call('RunWithBinding', this.#bound.session, this.#context.runOptions, this.#binding);
      this.#takeOver(exchanges);
    } catch (error) {
      this.#giveUp(exchanges);
      throw error;
    }
  }

  release(): void {
    this.#context.turns.whenIdle(() => release('ReleaseIoBinding', this.#binding));
  }

  #bind(): Exchange[] {
    const exchanges: Exchange[] = [];
    try {
      for (const input of this.#bound.inputs) this.#bindInput(input);
      for (const output of this.#bound.outputs) this.#bindOutput(output, exchanges);
      return exchanges;
    } catch (error) {
      this.#giveUp(exchanges);
      throw error;
    }
  }

  #bindInput({ name, tensor }: BoundTensor<Pointer>): void {
    if (!(tensor instanceof DevicePlace)) {
      call('BindInput', this.#binding, name, tensor.value);
      return;
    }
    tensor.settle();
    const { buffer } = tensor;
    if (this.#known.get(`in ${name}`) === buffer) return;
    call('BindInput', this.#binding, name, tensor.value);
    this.#known.set(`in ${name}`, buffer);
  }

  #bindOutput({ name, tensor }: BoundTensor<Pointer>, exchanges: Exchange[]): void {
    const buffer = tensor instanceof DevicePlace ? this.#target(tensor, exchanges) : 'host';
    if (this.#known.get(`out ${name}`) === buffer) return;
    const value = tensor instanceof DevicePlace && buffer !== 'host' ? tensor.over(buffer) : tensor.value;
    call('BindOutput', this.#binding, name, value);
    this.#known.set(`out ${name}`, buffer);
  }

  #target(place: DevicePlace, exchanges: Exchange[]): DeviceBuffer {
    if (!this.#inPlace.has(place)) return place.buffer;
    const written = this.#context.heap.takeSpare(place.buffer);
    exchanges.push({ place, written });
    return written;
  }

  #takeOver(exchanges: readonly Exchange[]): void {
    for (const place of this.#overwritten) place.written();
    for (const { place, written } of exchanges) {
      this.#context.heap.keepSpare(place.exchange(written));
    }
  }

  #giveUp(exchanges: readonly Exchange[]): void {
    for (const { written } of exchanges) this.#context.heap.keepSpare(written);
  }
}
