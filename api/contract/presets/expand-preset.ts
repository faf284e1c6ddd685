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
  const merged = stages.map((stage: unknown) =>
    isFields(stage) ? over(stageOf(preset, stage['name'])?.values ?? {}, stage) : stage,
  );
  return { spec: { ...posted, stages: merged }, faults };
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
  const missing = presets[preset].stages.flatMap(({ name, wants = [] }: PresetStage): Omitted[] => {
    const stage = posted.find((one) => 'name' in one && one.name === name) as Fields | undefined;
    if (stage === undefined) return [{ name, why: 'not posted: give it data, and what else it needs' }];
    return wants
      .filter(({ field }) => stage[field] === undefined)
      .map(({ field, why }) => ({ name: `${name}/${field}`, why }));
  });
  return [...presets[preset].omitted, ...missing];
}
