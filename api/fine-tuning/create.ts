// A job posted in OpenAI's form: its files become datasets, its method a spec, and the spec a job like any other.
import { insertFineTuning } from '../../db/fine-tuning.ts';
import type { Answer } from '../../db/idempotency.ts';
import type { JobRow } from '../../db/schema.ts';
import type { Services } from '../context.ts';
import type { FineTuningRequest } from '../contract/fine-tuning.ts';
import { issuesOf } from '../contract/issues.ts';
import { jobSpec } from '../contract/spec.ts';
import type { JobSpec } from '../contract/spec.ts';
import type { Keyed } from '../idempotency.ts';
import { createJob } from '../jobs/create.ts';
import { reachModel } from '../jobs/reach-model.ts';
import { inWords, ProblemError } from '../problem.ts';
import { inTheirWords, theirIssues } from './faults.ts';
import { modelNamed } from './model.ts';
import type { FineTuningJobParts, FineTuningSpec } from './spec.ts';
import { methodOf, specOf } from './spec.ts';
import { trainingSet } from './training-set.ts';
import { fineTuningView } from './view.ts';

/** @throws ProblemError whose issues point into the request. */
export async function createFineTuning(
  services: Services,
  request: FineTuningRequest,
  keyed: Keyed,
): Promise<Answer> {
  try {
    return await create(services, request, keyed);
  } catch (error) {
    throw inTheirWords(error);
  }
}

async function create(services: Services, request: FineTuningRequest, keyed: Keyed): Promise<Answer> {
  const { projectId } = keyed;
  const parts = await partsOf(services, projectId, request);
  const draft = parsed(specOf(parts));
  const { positions } = await reachModel(services, projectId, draft);
  const made = specOf({ ...parts, positions });
  return createJob(services, {
    keyed,
    spec: parsed(made),
    asPosted: made.spec,
    async answer(tx, job: JobRow) {
      const asked = {
        jobId: job.id,
        projectId,
        model: request.model,
        trainingFile: request.training_file,
        validationFile: request.validation_file ?? null,
        suffix: request.suffix ?? null,
        method: made.method,
        metadata: request.metadata ?? null,
      };
      await insertFineTuning(tx, asked);
      const validating = [parts.training, parts.validation].some((one) => one?.state === 'validating');
      return { status: 200, body: fineTuningView({ asked, job, validating, tokens: null }, services.now()) };
    },
  });
}

async function partsOf(
  services: Services,
  projectId: string,
  request: FineTuningRequest,
): Promise<FineTuningJobParts> {
  const method = methodOf(request);
  const { training_file, validation_file } = request;
  const model = await modelNamed(services, projectId, request.model);
  refuseUnused(request);
  const training = await trainingSet(services, projectId, {
    param: 'training_file',
    id: training_file,
    method,
  });
  const validation =
    (validation_file ?? null) === null
      ? undefined
      : await trainingSet(services, projectId, { param: 'validation_file', id: validation_file!, method });
  return { request, method, model, training, validation, positions: undefined };
}

/** What counts for a validation file, where there is none. */
function refuseUnused({ method, validation_file }: FineTuningRequest): void {
  if (method?.type !== 'reinforcement' || (validation_file ?? null) !== null) return;
  const asked = method.reinforcement.hyperparameters ?? {};
  const unused = (['eval_interval', 'eval_samples'] as const).filter(
    (field) => typeof asked[field] === 'number',
  );
  if (unused.length === 0) return;
  const issues = unused.map((field) => ({
    pointer: `/method/reinforcement/hyperparameters/${field}`,
    message: 'goes with a validation_file, and only with it',
  }));
  throw new ProblemError('invalid_spec', inWords(issues), { issues });
}

function parsed({ spec }: FineTuningSpec): JobSpec {
  const result = jobSpec.safeParse(spec);
  if (result.success) return result.data;
  const issues = theirIssues(issuesOf(result.error));
  throw new ProblemError('invalid_spec', inWords(issues), { issues });
}
