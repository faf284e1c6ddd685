// A trainer process that does what the name of its job says, instead of training: a real child with the real
// messages, snapshots and files, so that the supervisor meets every way in which a trainer can behave or end.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openCheckpoint } from '../../../runner/checkpoint/read.ts';
import { writeSnapshot } from '../../../runner/checkpoint/snapshot.ts';
import type { FromTrainer, StartMessage, ToTrainer } from '../../../runner/ipc.ts';
import { samplesKey } from '../../../runner/ipc.ts';

const send = (message: FromTrainer): void => void process.send?.(message);
const stage = 'sft';
const steps = 4;
const committed = new Map<string, () => void>();
let pauseAsked = false;
const stageEnd = Promise.withResolvers<Extract<ToTrainer, { type: 'stage_end' | 'stage_end_missing' }>>();

process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToTrainer) => {
  if (message.type === 'start') void scripts[message.claim.spec.name ?? '']!(message);
  else if (message.type === 'snapshot_done') committed.get(message.dir)?.();
  else if (message.type === 'pause') pauseAsked = true;
  else stageEnd.resolve(message);
});

function step(number: number): void {
  send({
    type: 'entry',
    entry: {
      type: 'step',
      stage,
      phase: 0,
      step: number,
      mode: 'non_thinking',
      metrics: { loss: 1 / number },
    },
  });
  send({ type: 'progress', progress: { stage, stage_index: 0, stages: 1, step: number, steps } });
}

async function snapshot({ claim, scratch }: StartMessage, number: number, megabytes = 0): Promise<void> {
  const dir = join(scratch, `snapshot-${number}`);
  const meta = { stage, stage_index: 0, step: number, kind: number === steps ? 'final' : 'step' } as const;
  const conditions = {
    provider: 'cpu',
    onnxruntime: '0',
    threads: 1,
    cpu: 'none',
    node: '0',
    memory_bytes: 0,
    device: 'cpu',
    precision: 'float32' as const,
    cache_tokens: 1,
  };
  const data = Float32Array.from({ length: Math.max(4, megabytes << 18) }, (_, at) => (at * number) % 1009);
  await writeSnapshot(
    dir,
    { job: claim.job, attempt: claim.attempt, ...meta, conditions },
    {
      weights: new Map([['w', { shape: [data.length], data }]]),
      modelFiles: new Map([['config.json', '{}']]),
      state: { step: number },
    },
  );
  const done = new Promise<void>((resolve) => committed.set(dir, resolve));
  send({ type: 'snapshot', dir, meta });
  await done;
}

async function samples({ claim, scratch }: StartMessage, number: number): Promise<void> {
  const file = join(scratch, `samples-${number}.jsonl`);
  const key = samplesKey(claim.job, claim.attempt, { stage, stage_index: 0, step: number });
  await writeFile(file, `{"step":${number}}\n`);
  const rows = [
    { line: 0, task: 0, rollout: 0, mode: 'non_thinking' as const, status: 'scored' as const, reward: 1 },
  ];
  send({ type: 'samples', file, entry: { type: 'samples', stage, phase: 0, step: number, key, rows } });
}

const stepOf = async (dir: string): Promise<number> => (await openCheckpoint(dir)).manifest.step;

function exitWith(outcome: Extract<FromTrainer, { type: 'outcome' }>['outcome']): void {
  process.send?.({ type: 'outcome', outcome } satisfies FromTrainer, () => process.exit(0));
}

async function learnFrom({ scratch }: StartMessage): Promise<void> {
  const dir = join(scratch, 'teachers', '0');
  send({ type: 'fetch_stage_end', stageIndex: 0, dir });
  const alive = setInterval(() => send({ type: 'alive' }), 50);
  const answer = await stageEnd.promise;
  clearInterval(alive);
  const files = answer.type === 'stage_end' ? (await readdir(dir)).sort() : [];
  console.log(`answered ${JSON.stringify({ ...answer, dir: undefined, files })}`);
  exitWith({ type: 'succeeded' });
}

async function forever(): Promise<void> {
  for (;;) {
    send({ type: 'alive' });
    await delay(50);
  }
}

/** Where a test finds the process ids of this trainer and of what it started. */
function tellPids(...pids: (number | undefined)[]): void {
  const file = process.env['SCRIPT_PIDS'];
  if (file !== undefined) writeFileSync(file, JSON.stringify([process.pid, ...pids]));
}

const scripts: Readonly<Record<string, (start: StartMessage) => Promise<void>>> = {
  /** Four steps, samples at each, a checkpoint at the second and the last; goes on from where a checkpoint stands. */
  async train(start) {
    tellPids();
    const done = start.inputs.resume === undefined ? 0 : await stepOf(start.inputs.resume);
    console.log(`inputs ${JSON.stringify(start.inputs)}`);
    send({ type: 'entry', entry: { type: 'stage_started', stage, stage_index: 0, steps } });
    for (let number = done + 1; number <= steps; number++) {
      step(number);
      await samples(start, number);
      if (number % 2 === 0) await snapshot(start, number, Number(process.env['SCRIPT_MEGABYTES'] ?? 0));
    }
    console.log(`scratch holds ${JSON.stringify(await readdir(start.scratch))}`);
    exitWith({ type: 'succeeded' });
  },
  /** Keeps a snapshot, which is the end of a stage, then wants it back. */
  async learning(start) {
    tellPids();
    await snapshot(start, steps, Number(process.env['SCRIPT_MEGABYTES'] ?? 0));
    await learnFrom(start);
  },
  /** Wants the end of a stage that has none. */
  async orphaned(start) {
    tellPids();
    await learnFrom(start);
  },
  async diverge() {
    exitWith({ type: 'failed', reason: 'diverged', message: 'the norm is not finite\0' });
  },
  async crash() {
    step(1);
    console.error('about to fail\nsegment 11');
    process.exitCode = 7;
    setTimeout(() => process.exit(7), 100);
  },
  async heap() {
    console.error('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory');
    setTimeout(() => process.abort(), 100);
  },
  /** Says nothing more after its first step, whatever signal asks it to stop. */
  async stall() {
    process.on('SIGTERM', () => undefined);
    step(1);
    setInterval(() => undefined, 1_000);
  },
  async alive() {
    step(1);
    await forever();
  },
  /** Keeps a snapshot when it is asked to pause. */
  async pausing(start) {
    tellPids();
    step(1);
    while (!pauseAsked) await delay(20);
    await snapshot(start, 1, Number(process.env['SCRIPT_MEGABYTES'] ?? 0));
    exitWith({ type: 'paused' });
  },
  /** Ignores SIGTERM and has children that do, too. */
  async stubborn() {
    process.on('SIGTERM', () => undefined);
    const child = spawn(
      process.execPath,
      ['-e', "process.on('SIGTERM',()=>{});setInterval(()=>{},1000);console.log('up')"],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    await new Promise((resolve) => child.stdout.once('data', resolve));
    tellPids(child.pid);
    step(1);
    await forever();
  },
  /** Never leaves the processor to anything else. */
  async busy() {
    tellPids();
    step(1);
    await delay(100);
    for (;;) Math.sqrt(2);
  },
  async lingering() {
    process.send?.({ type: 'outcome', outcome: { type: 'succeeded' } } satisfies FromTrainer);
    await forever();
  },
  async chatty() {
    for (let number = 1; number <= 5_000; number++) step(number);
    process.stdout.write('x'.repeat(3 << 20) + '\nlast line\n');
    await delay(300);
    exitWith({ type: 'succeeded' });
  },
  /** Loses its snapshot before it can be stored. */
  async damaged(start) {
    const dir = join(start.scratch, 'snapshot-1');
    await mkdir(dir);
    send({ type: 'snapshot', dir, meta: { stage, stage_index: 0, step: 1, kind: 'step' } });
    await forever();
  },
};
