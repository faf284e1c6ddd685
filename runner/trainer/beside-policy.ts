// What lies frozen beside the policy of an attempt: the reference of a KL penalty, or teachers. It is counted for all stages of the
// spec, so that every attempt cuts its batches alike, whichever stage it begins with: the most that any stage has open, be it run or
// not. A stage has one teacher a domain; own stages are of the policy's size, and `best` of two domains is counted as two.
import type { ExpandedDistillStage, ExpandedSpec } from '../../api/contract/expand.ts';
import { isDistilled, isReinforced } from '../../api/contract/stage-kinds.ts';
import { nameOfTeacher, placesOfTeacher } from '../../api/contract/teacher-places.ts';
import { isOutside } from '../../api/contract/teachers.ts';
import { frozenAtOnce } from '../engine/memory-budget.ts';
import type { Machine } from '../engine/memory-budget.ts';
import type { LoraConfig } from '../engine/models/lora.ts';
import { parameterLayout } from '../engine/models/parameters.ts';
import type { DecoderConfig } from '../engine/models/config.ts';
import type { Inputs } from '../ipc.ts';
import { InvalidModel } from './load-model.ts';
import { checkTeacher } from './teacher-model.ts';
import type { Student } from './teacher-model.ts';

export interface Beside {
  readonly frozenParameters: number;
  /** Teachers that may be open at a time; undefined where no stage distils. */
  readonly atOnce: number | undefined;
  /** Of each teacher from outside. */
  readonly positions: ReadonlyMap<string, number>;
}

const parametersOf = (config: DecoderConfig): number => parameterLayout(config).parameterCount;

/** `teachers`: directories of those from outside. Throws InvalidModel where one of them cannot teach this student. */
export async function besidePolicy(
  spec: Pick<ExpandedSpec, 'stages'>,
  student: Student,
  lora: LoraConfig | undefined,
  machine: Machine,
  teachers: Inputs['teachers'] = {},
): Promise<Beside> {
  const own = parametersOf(student.config);
  const reference = spec.stages.some((stage) => isReinforced(stage) && stage.kl > 0) ? own : 0;
  const distilled = spec.stages.filter(isDistilled);
  const outside = new Map<string, DecoderConfig>();
  if (distilled.length === 0) return { frozenParameters: reference, atOnce: undefined, positions: new Map() };
  for (const [teacher, directory] of Object.entries(teachers))
    outside.set(teacher, await checked(spec, student, teacher, directory));
  const sizes = [...outside.values()].map(parametersOf);
  const parameters = Math.max(distilled.some(hasOwnTeacher) ? own : 0, ...sizes);
  const wanted = Math.max(...distilled.map(teacherCount));
  const atOnce = frozenAtOnce(student.config, lora, machine, { parameters, wanted });
  const positions = new Map(
    [...outside].map(([teacher, { maxPositions }]) => [teacher, maxPositions] as const),
  );
  return { frozenParameters: Math.max(reference, atOnce * parameters), atOnce, positions };
}

async function checked(
  spec: Pick<ExpandedSpec, 'stages'>,
  student: Student,
  teacher: string,
  directory: string,
): Promise<DecoderConfig> {
  try {
    const config = await checkTeacher(student, directory);
    checkPositions(config, student.config, longestAnswer(spec, teacher));
    return config;
  } catch (cause) {
    const whose = placesOfTeacher(spec, teacher);
    throw new InvalidModel(`teacher ${teacher} of ${whose}: ${(cause as Error).message}`, { cause });
  }
}

/** Of the stages that it teaches, in tokens. */
const longestAnswer = ({ stages }: Pick<ExpandedSpec, 'stages'>, teacher: string): number =>
  Math.max(
    ...stages
      .filter(isDistilled)
      .filter(({ domains }) => domains.some((domain) => nameOfTeacher(domain.teacher) === teacher))
      .map(({ max_response }) => max_response),
  );

function checkPositions(teacher: DecoderConfig, student: DecoderConfig, longest: number): void {
  if (teacher.maxPositions >= Math.min(longest, student.maxPositions)) return;
  throw new Error(
    `the model has ${teacher.maxPositions} positions, and is to score answers of up to ${longest} tokens: give a smaller max_response`,
  );
}

const hasOwnTeacher = ({ domains }: ExpandedDistillStage): boolean =>
  domains.some(({ teacher }) => !isOutside(teacher));

const teacherCount = ({ domains }: ExpandedDistillStage): number =>
  new Set(domains.map(({ domain, teacher }) => JSON.stringify(teacher === 'best' ? [domain] : teacher))).size;
