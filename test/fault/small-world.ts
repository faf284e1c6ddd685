// The small world, shortened: every stage of the whole cascade with a reward model trained first, in a minute or two. What it learns
// does not matter here.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Client } from '../../api/client.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { chooseCheckpoint } from '../../cli/pull/choose.ts';
import type { LocalData, SpecFile } from '../../cli/submit/spec-file.ts';
import { withData } from '../../cli/submit/spec-file.ts';
import { submitSpec } from '../../cli/submit/submit.ts';
import { uploadData } from '../../cli/submit/upload.ts';
import {
  backboneSpec,
  cascadeSpec,
  rewardModelSpec,
  worldFiles,
} from '../../examples/small-world/run/specs.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { World } from './world.ts';

const root = join(import.meta.dirname, '../..');
const seeded = { seed: 1, labels: {} };
const silent = (): void => undefined;

/** Steps of each stage: enough for several checkpoints, so that kills fall in the middle. */
const sftSteps = 48;
const rlSteps = 16;
const suiteTasks = 20;

export const smallWorld: World = async (client) => {
  execFileSync(process.execPath, [join(root, 'examples/small-world/generate.ts')]);
  const files = worldFiles();
  const backbone = await trained(client, withSteps(backboneSpec(files, seeded), sftSteps));
  const rewardModel = await trained(client, withSteps(rewardModelSpec(files, seeded, backbone), rlSteps));
  const { spec, localData } = cascadeSpec(files, seeded, rewardModel);
  const folder = await tempDir('shortened-suites');
  try {
    const data = localData.map((one) =>
      one.pointer.startsWith('/evaluate') ? shortSuite(one, folder.path) : one,
    );
    return shortened(withData(spec, await uploadData(client, data, silent)));
  } finally {
    await folder.remove();
  }
};

/** The first tasks of a suite: it is evaluated anew after every kill. */
function shortSuite(data: LocalData, folder: string): LocalData {
  const file = join(folder, basename(data.file));
  const rows = readFileSync(data.file, 'utf8').split('\n').slice(0, suiteTasks);
  writeFileSync(file, `${rows.join('\n')}\n`);
  return { ...data, file };
}

/** The checkpoint that a job ends with. */
async function trained(client: Client, spec: SpecFile): Promise<string> {
  const { id } = await submitSpec(client, spec, silent);
  for await (const event of client.events(id)) void event;
  return (await chooseCheckpoint(client, id)).id;
}

function withSteps({ spec, localData }: SpecFile, steps: number): SpecFile {
  if (!('stage' in spec)) throw new Error(`a ${spec.type} job has no stage of its own`);
  const stage = { ...spec.stage, epochs: undefined, steps };
  return { spec: { ...spec, stage } as JobSpecInput, localData };
}

function shortened(spec: JobSpecInput): JobSpecInput {
  if (spec.type !== 'cascade') throw new Error('the small world is a cascade');
  return {
    ...spec,
    stages: spec.stages.map((stage) => ({ ...stage, steps: stage.kind === 'sft' ? sftSteps : rlSteps })),
    evaluate: {
      suites: spec.evaluate!.suites!.map((suite) => ('k' in suite ? { ...suite, k: 1 } : suite)),
    },
    checkpoints: { every_steps: 4 },
  };
}
