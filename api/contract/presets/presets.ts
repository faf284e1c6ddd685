// The presets by the names that specs give them.
import { nemotronCascade14bThinking } from './nemotron-cascade-14b-thinking.ts';
import { nemotronCascade2 } from './nemotron-cascade-2.ts';
import { nemotronCascade8b } from './nemotron-cascade-8b.ts';
import type { Preset } from './preset.ts';

export const presets = {
  'nemotron-cascade-8b': nemotronCascade8b,
  'nemotron-cascade-14b-thinking': nemotronCascade14bThinking,
  'nemotron-cascade-2': nemotronCascade2,
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];

export const isPresetName = (value: unknown): value is PresetName =>
  typeof value === 'string' && Object.hasOwn(presets, value);

export const stageOf = (preset: PresetName, name: unknown) =>
  presets[preset].stages.find((stage) => stage.name === name);
