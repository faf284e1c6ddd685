// Nemotron-Cascade-14B-Thinking (arXiv 2512.13607), by the tables of its appendix. Where the text says otherwise the table is
// followed: RLHF and instructions with 256 prompts (text: 128), RLHF for 900 steps (text: about 800), the first instruction stage
// without overlong filter (text: with), math at 1.2 and 1.1 (text: 1), code with 56K tokens (text: 44K to 48K).
import type { Preset } from './preset.ts';

const sft = {
  kind: 'sft',
  lr: 5e-5,
  lr_schedule: 'cosine',
  batch: 256,
  optimizer: { beta1: 0.9, beta2: 0.95, weight_decay: 1e-4 },
};

const instruction = {
  kind: 'instruction',
  mode: 'thinking',
  lr: 2e-6,
  prompts_per_step: 256,
  rollouts: 8,
  temperature: 0.6,
  top_p: 0.95,
  top_k: 20,
  filter: { type: 'batch' },
};

const wants = [
  {
    field: 'reward_model',
    why: 'not posted: answers that follow their instructions gain nothing by their quality (section 4.4); give the checkpoint of a reward model',
  },
];

export const nemotronCascade14bThinking: Preset = {
  stages: [
    { name: 'sft-1', source: 'Nemotron-Cascade, Table 14', values: { ...sft, max_length: 16_384 } },
    { name: 'sft-2', source: 'Nemotron-Cascade, Table 14', values: { ...sft, max_length: 32_768 } },
    {
      name: 'rlhf',
      source: 'Nemotron-Cascade, Table 15',
      values: {
        kind: 'rlhf',
        mode: 'thinking',
        lr: 2e-6,
        prompts_per_step: 256,
        rollouts: 8,
        temperature: 0.6,
        top_p: 0.95,
        max_response: 12_288,
        overlong: 'keep',
        filter: { type: 'off' },
        kl: 0,
        steps: 900,
      },
    },
    {
      name: 'instruction-1',
      source: 'Nemotron-Cascade, Table 16',
      values: { ...instruction, max_response: 8192, overlong: 'zero', steps: 800 },
      wants,
    },
    {
      name: 'instruction-2',
      source: 'Nemotron-Cascade, Table 16',
      values: { ...instruction, max_response: 16_384, overlong: 'filter', steps: 120 },
      wants,
    },
    {
      name: 'math',
      source: 'Nemotron-Cascade, Table 18',
      values: {
        kind: 'math',
        mode: 'thinking',
        lr: 2.5e-6,
        prompts_per_step: 128,
        rollouts: 8,
        top_p: 0.95,
        filter: { type: 'epoch', readmit_hard: 0.1, readmit_easy: 0.01 },
        phases: [
          { steps: 120, max_response: 28_672, temperature: 1.2, overlong: 'filter' },
          { steps: 100, max_response: 40_960, temperature: 1.1, overlong: 'zero' },
        ],
      },
    },
    {
      name: 'code',
      source: 'Nemotron-Cascade, Table 19',
      values: {
        kind: 'code',
        mode: 'thinking',
        lr: 4e-6,
        prompts_per_step: 128,
        rollouts: 8,
        temperature: 1,
        top_p: 0.95,
        max_response: 57_344,
        overlong: 'zero',
        steps: 64,
      },
    },
    {
      // Prompts of up to 32K tokens: rows are the poster's.
      name: 'swe',
      source: 'Nemotron-Cascade, Table 20',
      values: {
        kind: 'swe',
        mode: 'thinking',
        lr: 2.5e-6,
        prompts_per_step: 128,
        rollouts: 16,
        temperature: 1,
        top_p: 0.95,
        max_response: 16_384,
        overlong: 'filter',
        grader: { type: 'swe', reward: 'judge' },
        steps: 120,
      },
    },
  ],
  omitted: [
    {
      name: 'reward-model',
      why: 'a job of its own (type reward_model): name its checkpoint in the grader of rlhf and in reward_model of the instruction stages',
    },
  ],
};
