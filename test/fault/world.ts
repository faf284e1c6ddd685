// What a fault run trains: any function from a client to a spec whose datasets are registered, or a spec file; by default a cascade
// of three small stages.
import type { Client } from '../../api/client.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { readSpecFile, withData } from '../../cli/submit/spec-file.ts';
import { uploadData } from '../../cli/submit/upload.ts';
import { tinySpec } from '../e2e/tiny-job.ts';

/** Registers what the spec names (a reward model may be trained first) and gives the spec of a cascade. */
export type World = (client: Client) => Promise<JobSpecInput>;

export const worldOfFile =
  (path: string): World =>
  async (client) => {
    const { spec, localData } = readSpecFile(path);
    return withData(spec, await uploadData(client, localData, () => undefined));
  };

/** Instructions that a model of digits and commas follows now and then. */
const instructionRows = Array.from({ length: 30 }, (_, at) => ({
  prompt: `${at % 10},${(at * 7) % 10}:9,${1 + (at % 4)}`,
  ...(at % 2 === 0
    ? { instruction_id_list: ['punctuation:no_comma'], kwargs: [{}] }
    : { instruction_id_list: ['startend:quotation'], kwargs: [{}] }),
}));

/** `sft`, `math` and `instruction` on a model of a few thousand parameters, every suite after each. */
export const tinyWorld: World = async (client) => {
  const tiny = await tinySpec(client);
  if (tiny.type !== 'cascade') throw new Error('the tiny job is a cascade');
  const rows = instructionRows.map((row) => JSON.stringify(row)).join('\n');
  const instructions = await client.createDataset({ name: 'tiny-instructions', kind: 'instruction' }, rows);
  const suites = tiny.evaluate?.suites ?? [];
  return {
    ...tiny,
    stages: [
      { ...tiny.stages[0]!, steps: 300 },
      { ...tiny.stages[1]!, steps: 150 },
      {
        kind: 'instruction',
        data: instructions.id,
        steps: 150,
        prompts_per_step: 8,
        rollouts: 4,
        temperature: 1,
        max_response: 12,
        overlong: 'keep',
        filter: { type: 'off' },
        language_mixing: 'off',
        lr: 1e-3,
      },
    ] as typeof tiny.stages,
    evaluate: {
      suites: [
        ...suites,
        {
          name: 'instructions',
          domain: 'instruction',
          data: instructions.id,
          grader: { type: 'instructions' },
          k: 2,
          sampling: { max_response: 12 },
        },
      ],
    },
    checkpoints: { every_steps: 4 },
  };
};
