// What of an expanded spec the client did not give, and where each value comes from: the preset, or the kind's own default.
import { citationAt, envelopeCitations, stageCitations } from './citations.ts';
import type { StageKind } from './citations.ts';
import { defaultedFields, hasField } from './defaults.ts';
import type { PresetStage } from './presets/preset.ts';
import { stageOf } from './presets/presets.ts';
import type { PresetName } from './presets/presets.ts';

export interface DefaultedField {
  /** RFC 6901, into the expanded spec. */
  readonly pointer: string;
  readonly source: string;
}

interface Expanded {
  readonly preset?: PresetName | undefined;
  readonly stages: readonly {
    readonly kind: StageKind;
    readonly name: string;
    readonly domains?: readonly { readonly domain: string; readonly teacher?: unknown }[];
  }[];
}

/** In the order of the expanded spec. */
export const defaultsOf = (posted: unknown, expanded: Expanded): DefaultedField[] =>
  defaultedFields(posted, expanded).map((pointer) => ({ pointer, source: sourceOf(expanded, pointer) }));

function sourceOf({ preset, stages }: Expanded, pointer: string): string {
  const [, index, field] = /^\/stages\/(\d+)(\/.+)$/.exec(pointer) ?? [];
  if (index === undefined || field === undefined)
    return cited(citationAt(envelopeCitations, pointer), pointer);
  const stage = stages[Number(index)]!;
  const given = preset === undefined ? undefined : stageOf(preset, stage.name);
  if (given !== undefined && (hasField(given.values, field) || isTeacher(given, stage, field)))
    return `${preset}: ${given.source}`;
  return cited(citationAt(stageCitations[stage.kind], field), pointer);
}

/** Whether a preset has named the teacher that stands at `field`. */
function isTeacher(
  { teachers = [] }: PresetStage,
  { domains = [] }: Expanded['stages'][number],
  field: string,
) {
  const [, place] = /^\/domains\/(\d+)\/teacher$/.exec(field) ?? [];
  const named = place === undefined ? undefined : domains[Number(place)];
  return teachers.some(
    ({ domain, stage }) =>
      domain === named?.domain && stage !== undefined && named.teacher === `stage:${stage}`,
  );
}

function cited(source: string | undefined, pointer: string): string {
  if (source === undefined)
    throw new Error(`internal: nothing says where the default of ${pointer} comes from`);
  return source;
}
