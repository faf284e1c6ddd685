// Valid bodies of the operations whose bodies chance alone would seldom find, over the things of one project.
import type { Ids } from '../../api/openapi/filled.ts';
import { spec } from '../../api/support.ts';

const sha256 = 'a'.repeat(64);

export function bodiesOf(ours: Ids, mark: string): Record<string, unknown[]> {
  const { fence, of } = ours;
  const stages = [
    { kind: 'sft', data: `sft-${mark}`, steps: 2 },
    { kind: 'math', data: `math-${mark}`, steps: 2, max_response: 8, grader: { type: 'exact' } },
  ];
  const cascade = spec({ stages, evaluate: {} });
  const tuning = { model: of.checkpoints, training_file: of.files };
  return {
    createJob: [cascade, byPreset(mark), sft(mark), distill(mark, fence.job)],
    createFineTuningJob: [
      tuning,
      {
        ...tuning,
        model: '/models/any',
        hyperparameters: { n_epochs: 2, batch_size: 'auto' },
        metadata: { a: 'b' },
      },
      {
        ...tuning,
        method: {
          type: 'reinforcement',
          reinforcement: {
            grader: {
              type: 'string_check',
              operation: 'eq',
              input: '{{sample.output_text}}',
              reference: '{{item.a}}',
            },
          },
        },
      },
    ],
    runGrader: [
      { grader: { type: 'math' }, items: [{ task: { prompt: 'p', answer: '1' }, response: 'r' }] },
      { grader: { type: 'exact' }, items: [{ task: { prompt: 'p', answer: 1 }, response: '' }] },
    ],
    createChatCompletion: [{ model: of.models, messages: [{ role: 'user', content: 'hi' }], stream: false }],
    createModelUpload: [
      {
        files: ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map(
          (name) => ({
            name,
            size: 1,
            sha256,
          }),
        ),
      },
    ],
    registerRunner: [
      { protocol: 1, name: 'f', accelerator: 'cpu', memory_gb: 1, labels: { a: 'b' }, version: '1' },
    ],
    registerServing: [
      {
        protocol: 1,
        name: 's',
        checkpoint: of.checkpoints,
        model: 'm',
        url: 'http://127.0.0.1:1/',
        secret: 's'.repeat(24),
        version: '1',
      },
    ],
    ...protocolBodies(fence),
    rows: [
      { prompt: '1+1=', answer: '2' },
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'hello' },
        ],
      },
      { prompt: 'p', tests: 'assert f() == 1', entry_point: 'f' },
      { prompt: 'p', instruction_id_list: ['punctuation:no_comma'], kwargs: [{}] },
      { prompt: 'p', chosen: 'a', rejected: 'b' },
    ],
  };
}

const byPreset = (mark: string) =>
  spec({
    preset: 'nemotron-cascade-8b',
    stages: [{ name: 'math', data: `math-${mark}`, steps: 1, max_response: 8, mode: 'non_thinking' }],
    evaluate: {},
  });

const sft = (mark: string) =>
  spec({
    type: 'sft',
    stages: undefined,
    evaluate: undefined,
    stage: { kind: 'sft', data: `sft-${mark}`, epochs: 1 },
  });

const distill = (mark: string, job: string) =>
  spec({
    type: 'distill',
    stages: undefined,
    evaluate: undefined,
    stage: {
      kind: 'distill',
      steps: 1,
      max_response: 8,
      domains: [
        { domain: 'a', data: `math-${mark}`, teacher: { uri: '/models/a' } },
        { domain: 'b', data: `math-${mark}`, teacher: { from_job: job, take: 'stage:sft' } },
      ],
    },
  });

function protocolBodies(fence: Ids['fence']): Record<string, unknown[]> {
  const entries = [
    { type: 'stage_started', stage: 'math', stage_index: 1, steps: 3 },
    {
      type: 'step',
      stage: 'math',
      phase: 0,
      step: 1,
      mode: 'non_thinking',
      metrics: { reward: 0.5, loss: null },
    },
    { type: 'rewound', stage: 'math', to_step: 0 },
  ];
  const checkpoint = {
    stage: 'math',
    stage_index: 1,
    step: 2,
    kind: 'step',
    prefix: `jobs/${fence.job}/a${fence.attempt}/x/`,
    manifest_sha256: sha256,
    size: 1,
    files: [{ name: 'a', size: 1, sha256 }],
  };
  const progress = { stage: 'a', stage_index: 0, stages: 1, step: 1, steps: 2, reward: 0.1 };
  return {
    heartbeat: [{ ...fence, progress }],
    report: [2, 3, 4, 5, 6, 7, 8].map((sequence) => ({ ...fence, sequence, entries, log: 'line\n' })),
    commitCheckpoint: [{ ...fence, checkpoint }],
    getStageEnd: [{ ...fence, stage_index: 0 }],
    claimErrand: [{ runner: fence.runner, kinds: ['grade', 'validate'] }],
  };
}
