// A job spec in a file: read, checked against the contract before anything is uploaded, and its local references
// found: `file:PATH` in `data` and relative directories of models, tokenizers and teachers, all relative to the file.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { issuesOf } from '../../api/contract/issues.ts';
import type { DataReference } from '../../api/contract/expand.ts';
import { dataReferences } from '../../api/contract/expand.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { UserError } from '../user-error.ts';

export interface LocalData extends DataReference {
  readonly file: string;
}

export interface SpecFile {
  readonly spec: JobSpecInput;
  readonly localData: readonly LocalData[];
}

/** @throws UserError naming the file, the place in it and what is wrong. */
export const readSpecFile = (path: string): SpecFile => checkedSpec(parseJson(path), path);

/** A spec as if it stood in the file at `path`. @throws UserError as `readSpecFile` does. */
export function checkedSpec(posted: unknown, path: string): SpecFile {
  const spec = withAbsoluteDirectories(structuredClone(posted), path);
  const parsed = jobSpec.safeParse(spec);
  if (!parsed.success) {
    const places = issuesOf(parsed.error).map(
      ({ pointer, message }) => `\n  ${pointer === '' ? '(the spec)' : pointer}: ${message}`,
    );
    throw new UserError(`${path} is not a job spec:${places.join('')}`);
  }
  const localData = dataReferences(parsed.data).flatMap((reference) => localFile(reference, path));
  return { spec: spec as JobSpecInput, localData };
}

/** The spec with every `file:` reference replaced by what `nameOf` gives for its pointer. */
export function withData(spec: JobSpecInput, nameOf: ReadonlyMap<string, string>): JobSpecInput {
  const copy = structuredClone(spec);
  for (const [pointer, name] of nameOf) {
    const keys = pointer.split('/').slice(1);
    const last = keys.pop() as string;
    const holder = keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], copy);
    (holder as Record<string, unknown>)[last] = name;
  }
  return copy;
}

function parseJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(`the spec ${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

function localFile(reference: DataReference, specPath: string): LocalData[] {
  if (!reference.data.startsWith('file:')) return [];
  const file = resolve(dirname(specPath), reference.data.slice('file:'.length));
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new UserError(`${specPath}, ${reference.pointer}: there is no file ${file}`);
  if (stat.isDirectory())
    throw new UserError(`${specPath}, ${reference.pointer}: ${file} is a directory, rows are in a file`);
  return [{ ...reference, file }];
}

/** Paths like ./model mean a folder beside the spec; a runner must find it under the same absolute path. */
function withAbsoluteDirectories(posted: unknown, specPath: string): unknown {
  const init = field(field(posted, 'model'), 'init');
  const places = [
    { holder: init, pointer: '/model/init/uri', what: 'model' },
    { holder: field(init, 'tokenizer'), pointer: '/model/init/tokenizer/uri', what: 'tokenizer' },
    ...teachersIn(posted),
  ];
  for (const { holder, pointer, what } of places) {
    const uri = field(holder, 'uri');
    if (typeof uri !== 'string' || uri === '' || /^([a-z][a-z0-9+.-]*:|\/)/i.test(uri)) continue;
    const directory = resolve(dirname(specPath), uri);
    if (!existsSync(directory))
      throw new UserError(
        `${specPath}, ${pointer}: there is no ${what} directory ${directory}${hubHint(uri)}`,
      );
    (holder as Record<string, unknown>)['uri'] = directory;
  }
  return posted;
}

/** Of every stage and repair, posted well or not. */
function teachersIn(posted: unknown) {
  const stages = [
    { stage: field(posted, 'stage'), at: '/stage' },
    ...listOf(field(posted, 'stages')).map((stage, index) => ({ stage, at: `/stages/${index}` })),
    ...listOf(field(posted, 'gates')).map((gate, index) => ({
      stage: field(gate, 'repair'),
      at: `/gates/${index}/repair`,
    })),
  ];
  return stages.flatMap(({ stage, at }) =>
    listOf(field(stage, 'domains')).map((domain, index) => ({
      holder: field(domain, 'teacher'),
      pointer: `${at}/domains/${index}/teacher/uri`,
      what: 'teacher',
    })),
  );
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** `Qwen/Qwen3-0.6B` is how the hub names a model. */
const hubHint = (uri: string): string =>
  /^[\w.-]+\/[\w.-]+$/.test(uri) && !uri.startsWith('.')
    ? '; models are not fetched from the Hugging Face hub: download it, then name its directory, or the URI that millrace push prints'
    : '';

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
