// An explanation for people: sections of aligned lines.
import { leaves } from '../../api/contract/defaults.ts';
import type { MemoryNeed } from '../../api/contract/memory/need.ts';
import { table } from '../format.ts';
import type { Explanation } from './explanation.ts';

export function explanationText(explanation: Explanation): string[] {
  return [
    ...section('spec, * marks defaults, with where they come from', specLines(explanation)),
    ...section(
      `of ${explanation.spec.preset} is left out`,
      table(explanation.omitted.map(({ name, why }) => [name, why])),
    ),
    ...section('longest sequences, prompts of one token counted', lengthLines(explanation)),
    ...section('a step, at most', stepLines(explanation)),
    ...section('memory at least, GB of 10^9 bytes, by accelerator', memoryLines(explanation)),
    ...section(`runners (${explanation.spec.resources.accelerator})`, runnerLines(explanation)),
    ...section(
      'the service would refuse it',
      explanation.issues.map(({ pointer, message }) => `${pointer}: ${message}`),
    ),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`), ''];

function specLines({ spec, defaults }: Explanation): string[] {
  const sources = new Map(defaults.map(({ pointer, source }) => [pointer, source]));
  const rows = [...leaves(spec)].map(({ pointer, value }) => ({
    pointer,
    text: JSON.stringify(value),
    source: sources.get(pointer),
  }));
  // What was posted may be long, and has no source to align.
  const width = Math.max(0, ...rows.map(({ text, source }) => (source === undefined ? 0 : text.length)));
  return table(
    rows.map(({ pointer, text, source }) =>
      source === undefined ? [' ', pointer, text] : ['*', pointer, `${text.padEnd(width)}  ${source}`],
    ),
  );
}

function lengthLines({ lengths }: Explanation): string[] {
  return table(
    lengths.limits.map(({ pointer, tokens, trained, sampled }) => [
      pointer,
      `${tokens} tokens`,
      [...(sampled ? ['sampled'] : []), ...(trained ? ['trained'] : [])].join(', '),
    ]),
  );
}

const stepLines = ({ steps }: Explanation): string[] =>
  table(
    steps.map(({ stage, sequences, tokens }) => [
      stage,
      `${sequences} sequences`,
      `${tokens} tokens learnt from`,
    ]),
  );

function memoryLines({ memory, missing, model }: Explanation): string[] {
  if (model === null) return [`not known: ${missing}`];
  const names = [...new Set(memory.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  const rows = names.map((name) => [name, ...memory.map((need) => cell(need, name)), whatOf(memory, name)]);
  const [more] = memory.map(({ decoding }) => decoding);
  const further =
    more === undefined || more.rows < 2
      ? []
      : [
          [
            `+ ${more.rows - 1} rows`,
            ...memory.map(({ decoding }) => gb(decoding.bytes)),
            'of cache that the sampler takes where there is room',
          ],
        ];
  return table([
    ['', ...memory.map(({ accelerator }) => accelerator)],
    ...rows,
    ['in all', ...memory.map(({ bytes }) => gb(bytes)), `${model.parameters} parameters`],
    ...further,
  ]);
}

/** Three digits or so; what is there never reads as nothing. */
function gb(bytes: number): string {
  if (bytes > 0 && bytes < 5e5) return '<0.001';
  return (bytes / 1e9).toFixed(bytes < 1e8 ? 3 : bytes < 1e10 ? 2 : 1);
}

function cell({ lines }: MemoryNeed, name: string): string {
  const line = lines.find((one) => one.name === name);
  return line === undefined ? '-' : gb(line.bytes);
}

const whatOf = (memory: readonly MemoryNeed[], name: string): string =>
  memory.flatMap(({ lines }) => lines).find((line) => line.name === name)?.what ?? '';

function runnerLines({ runners }: Explanation): string[] {
  if (runners === null) return ['no service answers: not known'];
  if (runners.length === 0) return ['none is registered'];
  return table(
    runners.map(({ name, memory_gb, alive, fits }) => [
      name,
      `${memory_gb} GB`,
      fits === null ? 'may hold it' : fits ? 'can hold it' : 'too small',
      alive ? 'alive' : 'not heard of lately',
    ]),
  );
}
