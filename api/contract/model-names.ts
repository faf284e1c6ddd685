// Models by name, for clients that know no URIs: what an operator writes into the file of MILLRACE_MODELS.
import { z } from 'zod';
import { accelerator, labels } from './names.ts';
import { servedName } from './serving.ts';
import { modelInit } from './spec.ts';
import { tuning } from './tuning.ts';

export const namedModel = z.strictObject({
  init: modelInit,
  tuning: tuning.optional(),
  resources: z
    .strictObject({ accelerator: accelerator.optional(), runner_labels: labels.optional() })
    .optional(),
});
export type NamedModel = z.infer<typeof namedModel>;

export const modelNames = z.record(servedName, namedModel);
export type ModelNames = z.infer<typeof modelNames>;
