// Refuses, when a job is posted, what no registered runner could ever hold, and makes the need a condition of claiming:
// a runner that is too small never gets the job. With no runner of the kind registered a job is taken: one may come.
import type { Database } from '../../db/connect.ts';
import { largestMemory } from '../../db/runners.ts';
import type { MemoryNeed } from '../contract/memory/need.ts';
import { gigabytes } from '../contract/memory/need.ts';
import { specNeed } from '../contract/memory/spec-need.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { ProblemError } from '../problem.ts';

/** GB that a runner must have: what the spec asks for, or what the model takes where that is known and more. */
export async function memoryCondition(
  db: Database,
  projectId: string,
  spec: JobSpec,
  sizes: ModelSizes | undefined,
): Promise<number> {
  const { accelerator, min_memory_gb, runner_labels } = spec.resources;
  if (sizes === undefined) return min_memory_gb;
  const need = specNeed(spec, sizes);
  const gb = gigabytes(need.bytes);
  const largest = await largestMemory(db, projectId, { accelerator, labels: runner_labels });
  if (largest !== undefined && largest < gb) throw tooLarge(need, largest);
  return Math.max(min_memory_gb, gb);
}

function tooLarge(need: MemoryNeed, largest: number): ProblemError {
  const pointer = '/resources';
  const parts = need.lines
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ name, bytes }) => `${name} ${gigabytes(bytes)}`)
    .join(', ');
  const message =
    `the job needs at least ${gigabytes(need.bytes)} GB on ${need.accelerator} (most of it: ${parts}), the largest registered runner ` +
    `that it may run on has ${largest} GB: lower max_response or max_length, tune less, or register a larger runner; millrace explain shows the whole account`;
  return new ProblemError('insufficient_memory', message, { issues: [{ pointer, message }] });
}
