// `make accept-digits`: the digit-completion checkpoint of the verl project, untouched, learns its task in one cascade
// job posted over REST to a real service: a short `sft` stage on gold answers, then `math` with the dense prefix
// reward. 200 test prompts x 8 samples must rise from about 0.006 to at least 0.60 within 15 minutes on 2 cores; the
// ceiling of those prompts is 0.764. Figures, spec and curve go to docs/results/<commit>/accept-digits.json.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { answerOf, parsePrompt } from '../../examples/digits/sequence.ts';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { clock } from '../../cli/format.ts';
import { screenOn } from '../../cli/screen.ts';
import { endLine, follow } from '../../cli/watch/follow.ts';
import { startServe } from '../support/serve.ts';
import { tempDir } from '../support/temp-dir.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';
import type { Curve } from './results.ts';
import { writeResults } from './results.ts';

/** As the results name it: they stay, this machine's folder does not. */
const recordedModel = '$MILLRACE_TEST_DATA/digit-completion';

const goal = 0.6;
const limitSeconds = 15 * 60;
/** Ten passes over the 800 prompts: enough for the form of an answer, not for the answers. */
const sftSteps = 120;

interface Learnt {
  readonly before: number;
  readonly after: number;
  readonly tasks: number;
  readonly spec: JobSpecInput;
  readonly curve: Curve;
}

function prompts(file: string): string[] {
  const lines = readFileSync(testData(`digit-completion/${file}`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => (JSON.parse(line) as { messages: [{ content: string }] }).messages[0].content);
}

const jsonl = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const goldOf = (prompt: string): string => answerOf(parsePrompt(prompt));
const task = (prompt: string) => ({ prompt, answer: goldOf(prompt) });
const conversation = (prompt: string) => ({
  messages: [
    { role: 'user', content: prompt },
    { role: 'assistant', content: goldOf(prompt) },
  ],
});

async function postedSpec(client: Client): Promise<JobSpecInput> {
  const grader = { type: 'prefix' } as const;
  const [train, test] = [prompts('train.jsonl'), prompts('test.jsonl')];
  const upload = async (name: string, kind: 'sft' | 'math', rows: readonly object[]): Promise<string> => {
    const proven = kind === 'math' ? { grader: JSON.stringify(grader) } : {};
    const { id, state, report } = await client.createDataset({ name, kind, ...proven }, jsonl(rows));
    if (state !== 'ready') throw new Error(`dataset ${name} is ${state}: ${JSON.stringify(report)}`);
    return id;
  };
  return {
    type: 'cascade',
    name: 'accept-digits',
    seed: 1,
    model: { init: { from: 'hf', uri: pathToFileURL(testData('digit-completion')).href } },
    stages: [
      {
        kind: 'sft',
        data: await upload('digits-sft', 'sft', train.map(conversation)),
        batch: 64,
        steps: sftSteps,
        lr: 1e-3,
        lr_schedule: 'constant',
      },
      {
        kind: 'math',
        data: await upload('digits-train', 'math', train.map(task)),
        grader,
        steps: 700,
        prompts_per_step: 64,
        rollouts: 8,
        temperature: 1,
        top_p: 1,
        max_response: 24,
        overlong: 'keep',
        filter: { type: 'off' },
        lr: 1e-4,
      },
    ],
    evaluate: {
      suites: [
        {
          name: 'digits',
          domain: 'math',
          data: await upload('digits-test', 'math', test.map(task)),
          grader,
          k: 8,
          sampling: { temperature: 1, max_response: 24 },
        },
      ],
    },
    checkpoints: { every_steps: 100 },
  };
}

async function train(client: Client, interrupt: AbortSignal): Promise<Learnt> {
  const spec = await postedSpec(client);
  const { id } = await client.createJob(spec);
  const view = await follow(client, id, screenOn(process.stdout), interrupt);
  if (view?.state !== 'succeeded') throw new Error(view === undefined ? 'interrupted' : endLine(id, view));
  const [before, after] = [view.evaluations[0]?.cells[0], view.evaluations.at(-1)?.cells[0]];
  if (before === undefined || after === undefined) throw new Error('the job was not evaluated');
  return {
    before: before.value,
    after: after.value,
    tasks: after.tasks,
    spec: { ...spec, model: { init: { from: 'hf', uri: recordedModel } } },
    curve: await curveOf(client, id),
  };
}

/** Every evaluation, and the reward of every step. */
async function curveOf(client: Client, job: string): Promise<Curve> {
  const rewards: number[] = [];
  const query = { limit: 1000, stage: 'math', key: 'reward' };
  for await (const { value } of client.all((page) => client.metrics(job, { ...page, ...query })))
    rewards.push(value ?? NaN);
  const evaluations = (await client.evaluations(job)).data.map(({ after, value, low, high }) => ({
    after,
    value,
    low,
    high,
  }));
  return { evaluations, rewards };
}

async function main(): Promise<number> {
  if (testDataDir === undefined) {
    console.error(noTestData);
    return 1;
  }
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  const started = performance.now();
  const dir = await tempDir('accept-digits');
  const serve = await startServe(dir.path);
  try {
    const key = readFileSync(`${dir.path}/admin.key`, 'utf8').trim();
    const learnt = await train(createClient({ url: serve.url, key }), interrupt.signal);
    const seconds = (performance.now() - started) / 1000;
    const file = writeResults('accept-digits', { ...learnt, goal, seconds, limit_seconds: limitSeconds });
    const { before, after, tasks } = learnt;
    console.log(
      `reward before ${before.toFixed(4)} after ${after.toFixed(4)} (${tasks} tasks x 8), goal ${goal.toFixed(2)}`,
    );
    console.log(`took ${clock(seconds)} of ${clock(limitSeconds)}; figures in ${file}`);
    return after >= goal && seconds <= limitSeconds ? 0 : 1;
  } finally {
    await serve.stop();
    await dir.remove();
  }
}

process.exit(await main());
