// What a model's name means in a job of OpenAI's form: a checkpoint, a name that the service knows, or a model directory.
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import { getJob } from '../../db/jobs/get.ts';
import type { Services } from '../context.ts';
import type { NamedModel } from '../contract/model-names.ts';
import { checkpointId } from '../contract/names.ts';
import { ProblemError } from '../problem.ts';

/** @throws ProblemError model_not_found. */
export async function modelNamed(services: Services, projectId: string, model: string): Promise<NamedModel> {
  const { db, models } = services;
  const known = Object.hasOwn(models, model) ? models[model] : undefined;
  if (known !== undefined) return known;
  if (checkpointId.safeParse(model).success) {
    const checkpoint = await getCheckpoint(db, projectId, model);
    if (checkpoint === undefined) throw notFound(model, Object.keys(models));
    const resources = await resourcesOf(services, projectId, checkpoint.jobId);
    return { init: { from: 'checkpoint', checkpoint: model }, ...(resources && { resources }) };
  }
  if (/^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(model)) return { init: { from: 'hf', uri: model } };
  throw notFound(model, Object.keys(models));
}

/** Whatever could train a checkpoint can train it further. */
async function resourcesOf(
  { db }: Services,
  projectId: string,
  job: string,
): Promise<NamedModel['resources']> {
  const resources = (await getJob(db, projectId, job))?.expanded.resources;
  if (resources === undefined) return undefined;
  return { accelerator: resources.accelerator, runner_labels: resources.runner_labels };
}

function notFound(model: string, names: readonly string[]): ProblemError {
  const known = names.length === 0 ? '' : `, one of ${names.slice(0, 20).join(', ')}`;
  return new ProblemError(
    'model_not_found',
    `there is no model ${JSON.stringify(model.slice(0, 100))} that this key can see: give a checkpoint (ckpt_…)${known}, or the URI or path of a model directory`,
    { issues: [{ pointer: '/model', message: 'names nothing' }] },
  );
}
