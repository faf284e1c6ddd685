// Nemotron-Cascade-8B, the unified model (arXiv 2512.13607), by the tables of its appendix. Where the text says otherwise the
// table is followed: RLHF and instructions with 256 prompts (text: 128), instructions for 2300 and 800 steps (text: about 2000 and
// 1000), the last phase of math at 0.8 (text: 1), code cooling from 1.0 to 0.8 (text: 1.0), the second SWE stage without overlong filter
// (text: with).
import type { Preset } from './preset.ts';

const sft = {
  kind: 'sft',
  lr_schedule: 'cosine',
  batch: 256,
  optimizer: { beta1: 0.9, beta2: 0.95, weight_decay: 1e-4 },
};

const instruction = {
  kind: 'instruction',
  mode: 'non_thinking',
  lr: 2e-6,
  prompts_per_step: 256,
  rollouts: 8,
  temperature: 0.6,
  top_p: 0.95,
  top_k: 20,
  max_response: 8192,
  overlong: 'zero',
  filter: { type: 'batch' },
};

/** Two stages: the second has prompts of up to 24K tokens, the first of up to 16K, and rows are the poster's. */
const swe = {
  kind: 'swe',
  mode: 'thinking',
  lr: 2.5e-6,
  prompts_per_step: 128,
  rollouts: 16,
  temperature: 1,
  top_p: 0.95,
  max_response: 16_384,
  grader: { type: 'swe', reward: 'judge' },
  steps: 30,
};

export const nemotronCascade8b: Preset = {
  stages: [
    {
      name: 'sft-1',
      source: 'Nemotron-Cascade, Table 14',
      values: { ...sft, lr: 5e-5, max_length: 16_384 },
    },
    {
      name: 'sft-2',
      source: 'Nemotron-Cascade, Table 14',
      values: { ...sft, lr: 2e-5, max_length: 32_768 },
    },
    {
      name: 'rlhf',
      source: 'Nemotron-Cascade, Table 15 and section 4.3',
      values: {
        kind: 'rlhf',
        mode: 'half_half',
        lr: 2e-6,
        prompts_per_step: 256,
        rollouts: 8,
        temperature: 0.6,
        top_p: 0.95,
        max_response: 12_288,
        overlong: 'keep',
        filter: { type: 'off' },
        kl: 0,
        steps: 800,
      },
    },
    {
      name: 'instruction-1',
      source: 'Nemotron-Cascade, Table 16',
      values: { ...instruction, steps: 2300 },
    },
    {
      name: 'instruction-2',
      source: 'Nemotron-Cascade, Table 16',
      values: { ...instruction, steps: 800 },
    },
    {
      name: 'math',
      source: 'Nemotron-Cascade, Table 17',
      values: {
        kind: 'math',
        mode: 'thinking',
        lr: 2e-6,
        prompts_per_step: 128,
        rollouts: 8,
        top_p: 0.95,
        filter: { type: 'epoch', readmit_hard: 0.1, readmit_easy: 0.01 },
        phases: [
          { steps: 190, max_response: 24_576, temperature: 1, overlong: 'filter' },
          { steps: 240, max_response: 32_768, temperature: 1, overlong: 'zero' },
          { steps: 70, max_response: 40_960, temperature: 0.8, overlong: 'zero' },
        ],
      },
    },
    {
      // The table gives both ends of length and temperature, and not where they change: halfway is our choice.
      name: 'code',
      source: 'Nemotron-Cascade, Table 19',
      values: {
        kind: 'code',
        mode: 'thinking',
        lr: 4e-6,
        prompts_per_step: 128,
        rollouts: 8,
        top_p: 0.95,
        overlong: 'zero',
        phases: [
          { steps: 45, max_response: 45_056, temperature: 1 },
          { steps: 45, max_response: 49_152, temperature: 0.8 },
        ],
      },
    },
    { name: 'swe-1', source: 'Nemotron-Cascade, Table 20', values: { ...swe, overlong: 'filter' } },
    { name: 'swe-2', source: 'Nemotron-Cascade, Table 20', values: { ...swe, overlong: 'zero' } },
  ],
  omitted: [
    {
      name: 'reward-model',
      why: 'a job of its own (type reward_model): name its checkpoint in the grader of rlhf',
    },
  ],
};
