// Projects: the owners of everything, and what each may take of the runners.
import { z } from 'zod';
import { int32, name, projectId, timestamp } from './names.ts';

const quotas = {
  max_running: int32
    .min(0)
    .nullable()
    .describe('jobs of the project that may run at a time; 0: none starts; null: no bound'),
  weight: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .describe('its share of the runners that serve every project, beside the weights of the others'),
};

export const project = z
  .object({ id: projectId, name, ...quotas, created_at: timestamp })
  .meta({ id: 'Project' });
export type Project = z.infer<typeof project>;

export const projectRequest = z.strictObject({
  name: name.refine((text) => !text.startsWith('proj_'), 'names do not begin with proj_, as ids do'),
  max_running: quotas.max_running.default(null),
  weight: quotas.weight.default(1),
});
export type ProjectRequest = z.infer<typeof projectRequest>;

/** What is omitted stays as it is. The name stays: whoever makes keys by it must not get those of another project. */
export const projectChange = z
  .strictObject({ max_running: quotas.max_running.optional(), weight: quotas.weight.optional() })
  .refine((change) => Object.keys(change).length > 0, 'name what is to change: max_running, weight');
export type ProjectChange = z.infer<typeof projectChange>;
