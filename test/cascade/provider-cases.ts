// A whole small cascade where weights, moments and caches lie on a device: supervised steps, then GRPO on its own rollouts.
import { expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import type { Host } from '../../runner/cascade/host.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { means } from '../support/means.ts';
import { besideCpu } from '../support/beside-cpu.ts';
import { noWaiting, tinyDatasets, tinyPolicy, tinySpec } from '../support/tiny-policy.ts';

type Step = Extract<Entry, { type: 'step' }>;

async function steps(runtime: Runtime): Promise<Step[]> {
  const policy = await tinyPolicy(runtime);
  const entries: Entry[] = [];
  const host: Host = {
    clock: noWaiting,
    alive: () => undefined,
    pauseAsked: () => false,
    emit: (entry) => void entries.push(entry),
    progress: () => undefined,
    samples: () => Promise.resolve(),
    snapshot: () => Promise.resolve(),
  };
  try {
    const spec = tinySpec({ sftSteps: 8, mathSteps: 3 });
    await runCascade(
      { ...spec, evaluate: { ...spec.evaluate, suites: [] } },
      policy,
      tinyDatasets,
      means,
      host,
    );
    return entries.filter((entry) => entry.type === 'step');
  } finally {
    policy[Symbol.dispose]();
  }
}

/** `make` gives a runtime of the provider under test; the suite ends it. */
export function cascadeCases(make: () => Runtime): void {
  const both = besideCpu(make);

  it('SFT and GRPO step as on the CPU: the same draws, losses, rewards and norms', async () => {
    const [found, expected] = [await steps(both.runtime), await steps(both.cpu)];
    // A step whose groups all agree is skipped, on both alike.
    expect(found).toHaveLength(expected.length);
    expect(new Set(found.map(({ stage }) => stage))).toEqual(new Set(['sft', 'math']));
    found.forEach((step, i) => {
      const metrics = Object.entries(expected[i]!.metrics).filter(
        ([key]) => !/^time_|tokens_per_s|gap/.test(key),
      );
      expect(metrics.length).toBeGreaterThan(3);
      for (const [key, value] of metrics) {
        const distance = Math.abs(step.metrics[key]! - value!) / (1 + Math.abs(value!));
        expect(distance, `step ${i}: ${key}`).toBeLessThan(1e-3);
      }
    });
  });
}
