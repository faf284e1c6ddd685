// From a posted spec with a preset to one without gaps: each posted stage over the values of the preset's stage that it names. Stages
// keep the places that they were posted at, so that every fault is named by its pointer into what was posted; the order in which they
// run is the preset's (stages-of.ts).
import type { Fault } from '../fault.ts';
import type { Omitted, PresetStage } from './preset.ts';
import { isPresetName, presetNames, presets, stageOf } from './presets.ts';
import type { PresetName } from './presets.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The spec, changed where it is a cascade with a preset; faults of its preset and of the names of its stages. */
export function expandPreset(posted: unknown): { readonly spec: unknown; readonly faults: Fault[] } {
  const whole = { spec: posted, faults: [] };
  if (!isFields(posted) || posted['type'] !== 'cascade' || posted['preset'] === undefined) return whole;
  const { preset, stages } = posted;
  if (!isPresetName(preset))
    return {
      spec: posted,
      faults: [{ path: ['preset'], message: `there is no such preset; there are ${presetNames.join(', ')}` }],
    };
  if (!Array.isArray(stages)) return whole;
  const faults = stages.flatMap((stage, index) => stageFault(preset, stage, index));
  const names = stages.flatMap((stage: unknown) => (isFields(stage) ? [stage['name']] : []));
  const merged = stages.map((stage: unknown) => {
    const given = isFields(stage) ? stageOf(preset, stage['name']) : undefined;
    return isFields(stage) ? withTeachers(over(given?.values ?? {}, stage), given?.teachers, names) : stage;
  });
  return { spec: { ...posted, stages: merged }, faults };
}

/** A domain without a teacher gets the preset's, where that is the end of a stage that is posted. */
function withTeachers(
  stage: Fields,
  teachers: PresetStage['teachers'] = [],
  names: readonly unknown[],
): Fields {
  const { domains } = stage;
  if (teachers.length === 0 || !Array.isArray(domains)) return stage;
  const taught = domains.map((one: unknown) => {
    if (!isFields(one) || one['teacher'] !== undefined) return one;
    const of = teachers.find(({ domain }) => domain === one['domain'])?.stage;
    return of !== undefined && names.includes(of) ? { ...one, teacher: `stage:${of}` } : one;
  });
  return { ...stage, domains: taught };
}

function stageFault(preset: PresetName, stage: unknown, index: number): Fault[] {
  if (!isFields(stage)) return [];
  const given = stageOf(preset, stage['name']);
  if (given === undefined) {
    const names = presets[preset].stages.map(({ name }) => name).join(', ');
    return [{ path: ['stages', index, 'name'], message: `must name a stage of ${preset}: ${names}` }];
  }
  const { kind } = stage;
  if (kind === undefined || kind === given.values.kind) return [];
  const message = `is ${given.values.kind} in ${preset}: leave it out`;
  return [{ path: ['stages', index, 'kind'], message }];
}

/** Fields of which a stage takes one: posting it puts the others away. */
const rivals: ReadonlyMap<string, readonly string[]> = new Map([
  ['steps', ['phases', 'epochs']],
  ['phases', ['steps']],
  ['epochs', ['steps']],
]);

/** `posted` over `given`: objects merge, unless their types differ; anything else is replaced. */
function over(given: Fields, posted: Fields): Fields {
  const put = new Set(Object.keys(posted).flatMap((key) => rivals.get(key) ?? []));
  return Object.fromEntries([
    ...Object.entries(given).filter(([key]) => !put.has(key)),
    ...Object.entries(posted).map(([key, value]) => [
      key,
      merged(Object.hasOwn(given, key) ? given[key] : undefined, value),
    ]),
  ]) as Fields;
}

function merged(given: unknown, posted: unknown): unknown {
  if (!isFields(given) || !isFields(posted)) return posted;
  const differ = posted['type'] !== undefined && posted['type'] !== given['type'];
  return differ ? posted : over(given, posted);
}

/** What of the preset does not run: what there is not here, stages that were not posted, and what those posted lack. */
export function omittedOf(preset: PresetName, posted: readonly object[]): Omitted[] {
  const missing = presets[preset].stages.flatMap(
    ({ name, wants = [], teachers = [] }: PresetStage): Omitted[] => {
      const stage = posted.find((one) => 'name' in one && one.name === name) as Fields | undefined;
      if (stage === undefined) return [{ name, why: 'not posted: give it data, and what else it needs' }];
      const lacking = wants.filter(({ field }) => stage[field] === undefined);
      const untaught = teachers.filter(({ domain }) => !isTaught(stage, domain));
      return [
        ...lacking.map(({ field, why }) => ({ name: `${name}/${field}`, why })),
        ...untaught.map(({ domain, why }) => ({ name: `${name}/${domain}`, why })),
      ];
    },
  );
  return [...presets[preset].omitted, ...missing];
}

/** By a teacher that somebody named, the preset or the poster. */
const isTaught = ({ domains }: Fields, domain: string): boolean =>
  Array.isArray(domains) &&
  domains.some(
    (one: unknown) => isFields(one) && one['domain'] === domain && (one['teacher'] ?? 'best') !== 'best',
  );
