// Which head a checkpoint must have for what a spec names it for: language models answer and teach, reward models score. One wording for
// the service, which looks when a job is posted, and for `explain`.
import { rewardModelReferences } from './expand.ts';
import type { Issue } from './issues.ts';
import type { ModelSizes } from './model-shape.ts';
import type { JobSpec } from './spec.ts';
import { teacherKey, teacherReferences } from './teachers.ts';

/** What is wrong with a model to begin with; undefined where nothing is. */
export const beginningFault = (
  { scalarHead }: Pick<ModelSizes, 'scalarHead'>,
  type: JobSpec['type'],
): string | undefined =>
  scalarHead && type !== 'reward_model'
    ? `it is a reward model, which answers nothing: a ${type} job begins with a language model`
    : undefined;

/** What is wrong with a checkpoint to score with, to follow its name; undefined where nothing is. */
export const scoringFault = ({ scalarHead }: Pick<ModelSizes, 'scalarHead'>): string | undefined =>
  scalarHead
    ? undefined
    : 'is a language model: name one with a scalar head, as a job of type reward_model ends with';

/** What is wrong with a teacher, to follow its name; undefined where nothing is. */
export const teachingFault = ({ scalarHead }: Pick<ModelSizes, 'scalarHead'>): string | undefined =>
  scalarHead
    ? 'is a reward model, which says of no word how likely it is: a teacher is a language model'
    : undefined;

/** Of a spec whose models are known so far; `rewardModels` by the id of their checkpoint, `teachers` by `teacherKey`. */
export function headIssues(
  spec: JobSpec,
  sizes: ModelSizes | undefined,
  {
    rewardModels,
    teachers = new Map(),
  }: {
    readonly rewardModels: ReadonlyMap<string, ModelSizes>;
    readonly teachers?: ReadonlyMap<string, ModelSizes>;
  },
): Issue[] {
  const begins = sizes && beginningFault(sizes, spec.type);
  const pointer = spec.model.init.from === 'checkpoint' ? '/model/init/checkpoint' : '/model/init/uri';
  const scores = rewardModelReferences(spec).flatMap(({ pointer: at, model }): Issue[] => {
    const known = rewardModels.get(model);
    const fault = known && scoringFault(known);
    return fault === undefined ? [] : [{ pointer: at, message: `checkpoint ${model} ${fault}` }];
  });
  const teaches = teacherReferences(spec).flatMap(({ pointer: at, teacher, domain }): Issue[] => {
    const key = teacherKey(teacher, domain);
    const known = teachers.get(key);
    const fault = known && teachingFault(known);
    return fault === undefined ? [] : [{ pointer: at, message: `${key} ${fault}` }];
  });
  return [...(begins === undefined ? [] : [{ pointer, message: begins }]), ...scores, ...teaches];
}
