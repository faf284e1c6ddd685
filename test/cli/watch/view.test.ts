// What a watcher makes of events: the view, the live line, the plain lines, the table.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../api/client.ts';
import type { EventBody, JobEvent } from '../../../api/contract/event.ts';
import type { Screen } from '../../../cli/screen.ts';
import { screenOn } from '../../../cli/screen.ts';
import { rewardLine } from '../../../cli/commands/demo.ts';
import { evaluationTable } from '../../../cli/watch/evaluations.ts';
import { endLine, follow } from '../../../cli/watch/follow.ts';
import { eventLine, statusLine, stepLine } from '../../../cli/watch/lines.ts';
import { emptyView, withEvent } from '../../../cli/watch/view.ts';

const epoch = Date.parse('2026-01-01T00:00:00Z');

/** Events one second apart. */
const events = (bodies: readonly EventBody[]): JobEvent[] =>
  bodies.map((body, i) => ({
    seq: i + 1,
    attempt: 1,
    created_at: new Date(epoch + i * 1000).toISOString(),
    body,
  }));

const step = (stage: string, at: number, metrics: Record<string, number | null>): EventBody => ({
  type: 'step',
  stage,
  phase: 0,
  step: at,
  mode: 'non_thinking',
  metrics,
});
const evaluation = (after: string, value: number): EventBody => ({
  type: 'evaluation',
  after,
  cells: [
    {
      suite: 'digits',
      domain: 'math',
      mode: 'non_thinking',
      metric: 'avg@8',
      value,
      low: value - 0.01,
      high: value + 0.01,
      tasks: 120,
    },
  ],
});
const state = (from: 'queued' | 'running' | null, to: 'queued' | 'running' | 'succeeded'): EventBody => ({
  type: 'state',
  from,
  to,
});

const run = events([
  state(null, 'queued'),
  state('queued', 'running'),
  evaluation('initial', 0.0123),
  { type: 'stage_started', stage: 'sft', stage_index: 0, steps: 4 },
  step('sft', 1, { loss: 2.5, tokens_per_s: 8123 }),
  step('sft', 2, { loss: 2.25, tokens_per_s: 950 }),
  { type: 'stage_finished', stage: 'sft', stage_index: 0 },
  evaluation('sft', 0.25),
  { type: 'stage_started', stage: 'math', stage_index: 1, steps: 10 },
  step('math', 1, { reward: 0.5, loss: null }),
  evaluation('math', 0.75),
  state('running', 'succeeded'),
]);
const viewAfter = (count: number) => run.slice(0, count).reduce(withEvent, emptyView);

describe('the view', () => {
  it('holds state, stage and evaluations', () => {
    expect(viewAfter(12)).toMatchObject({ state: 'succeeded', lastSeq: 12, attempt: 1 });
    expect(viewAfter(12).evaluations.map(({ after }) => after)).toEqual(['initial', 'sft', 'math']);
  });

  it('knows the time left from the pace of the stage', () => {
    expect(viewAfter(5).stage).toMatchObject({ step: 1, secondsLeft: null });
    expect(viewAfter(6).stage).toMatchObject({ step: 2, secondsLeft: 2 });
  });

  it('replaces an evaluation that a resumed attempt repeats', () => {
    const again = withEvent(viewAfter(8), { ...run[7]!, seq: 9, body: evaluation('sft', 0.3) });
    expect(again.evaluations.map(({ cells }) => cells[0]?.value)).toEqual([0.0123, 0.3]);
  });

  it('counts the pace anew where a resume goes back', () => {
    const back = withEvent(viewAfter(6), {
      ...run[4]!,
      seq: 7,
      created_at: new Date(epoch + 60_000).toISOString(),
    });
    expect(back.stage).toMatchObject({ step: 1, secondsLeft: null });
  });
});

describe('lines', () => {
  it('has a live line with stage, bar, measures and time left', () => {
    expect(statusLine(viewAfter(6))).toBe(
      'sft (stage 1)  [##########..........] 2/4  loss 2.2500  950 tokens/s  0:02 left',
    );
  });

  it('keeps the time left on a narrow terminal: the bar gives way', () => {
    expect(statusLine(viewAfter(6), 79)).toBe(
      'sft (stage 1)  [#####.....] 2/4  loss 2.2500  950 tokens/s  0:02 left',
    );
    expect(statusLine(viewAfter(6), 20)).toMatch(/^sft .* left$/);
  });

  it('has a step line that stays', () => {
    expect(stepLine(viewAfter(10).stage!)).toBe('math: step 1/10, reward 0.500');
  });

  it('says why an attempt failed', () => {
    const [event] = events([
      {
        type: 'attempt_failed',
        reason: 'out_of_memory',
        message: 'killed',
        retry_at: '2026-01-01T00:00:00Z',
      },
    ]);
    expect(eventLine(event!)).toBe('attempt 1 failed (out_of_memory), it will be tried again: killed');
  });

  it('has a table of evaluations', () => {
    expect(evaluationTable(viewAfter(12).evaluations)).toEqual([
      '                           before training  after sft  after math',
      'digits.non_thinking.avg@8  0.0123           0.2500     0.7500',
    ]);
  });

  it('tells an evaluation within a stage from that at its end, and keeps it out of the table', () => {
    const within: EventBody = {
      ...(evaluation('math', 0.5) as Extract<EventBody, { type: 'evaluation' }>),
      step: 5,
    };
    expect(eventLine(events([within])[0]!)).toBe(
      'evaluation in math, step 5: digits.non_thinking.avg@8 0.500 (95 %: 0.490 to 0.510, 120 tasks)',
    );
    const view = events([evaluation('initial', 0), within, evaluation('math', 0.75)]).reduce(
      withEvent,
      emptyView,
    );
    expect(view.evaluations.map(({ after, step }) => [after, step])).toEqual([
      ['initial', null],
      ['math', 5],
      ['math', null],
    ]);
    expect(evaluationTable(view.evaluations)[0]).toMatch(/ +before training  after math$/);
  });

  it('ends the demo with before and after', () => {
    expect(rewardLine(viewAfter(12))).toBe('reward before 0.012 after 0.750 (120 tasks x 8)');
  });
});

const lineOf = (body: EventBody) => eventLine(events([body])[0]!);

describe('a gate', () => {
  const seen = { value: 0.031, low: 0.024, high: 0.038, limit: 0.02, result: 'fired' } as const;
  const gate = { type: 'gate', gate: 0, after: 'code', metric: 'm.thinking.avg@8', ...seen } as const;

  it('is told with what it saw: a level, or how much worse than when', () => {
    expect(lineOf({ ...gate, since: null })).toBe(
      'gate 0 after code: m.thinking.avg@8 0.031 (0.024 to 0.038), limit 0.02: fired',
    );
    expect(lineOf({ ...gate, since: 'math' })).toBe(
      'gate 0 after code: m.thinking.avg@8 worse by 0.031 (0.024 to 0.038) than after math, limit 0.02: fired',
    );
  });

  it('that paused its job leaves a line that says how it goes on', () => {
    expect(
      lineOf({ type: 'state', from: 'running', to: 'paused', reason: 'gate_failed', message: 'x' }),
    ).toBe('job paused: "millrace resume" lets it go on');
  });
});

describe('distillation', () => {
  it('says who teaches what, and by which score the best was chosen', () => {
    const teachers = [
      { domain: 'math', teacher: 'stage:math', score: 0.8125 },
      { domain: 'chat', teacher: 's3://models/chat' },
      { domain: 'code', teacher: 'ckpt_1', score: null },
    ];
    expect(lineOf({ type: 'teachers', stage: 'distill', teachers })).toBe(
      'distill: learns math from stage:math (0.813), chat from s3://models/chat, code from ckpt_1',
    );
  });

  it('says how far from a teacher it begins, and which stage does not run', () => {
    const distance = {
      domain: 'math',
      teacher: 'stage:math',
      kl: 0.21,
      at_most: 0.15,
      result: 'warned',
    } as const;
    expect(lineOf({ type: 'teacher_distance', stage: 'distill', ...distance })).toBe(
      'distill: math is 0.210 nats a token from stage:math, limit 0.15: warned',
    );
    expect(
      lineOf({
        type: 'stage_skipped',
        stage: 'repair-math',
        stage_index: 2,
        cause: 'no gate after math fired',
      }),
    ).toBe('stage 3, repair-math, skipped: no gate after math fired');
  });
});

describe('what is computed with', () => {
  it('is a line, with the reason where products are not of 16 bits', () => {
    const cpu = {
      type: 'computing',
      provider: 'cpu',
      device: 'cpu',
      precision: 'float32',
      instead: null,
      memory_bytes: 2 ** 30,
      cache_tokens: 1024,
    } as const;
    expect(lineOf(cpu)).toBe('computes on cpu, products of float32');
    const webgpu = { ...cpu, provider: 'webgpu', device: 'driver x.json', instead: 'no f16' } as const;
    expect(lineOf(webgpu)).toBe('computes on webgpu (driver x.json), products of float32: no f16');
  });

  it('is how micro-batches are cut, a line for each way', () => {
    const long = {
      length: 4096,
      rows: 1,
      activations: 'recomputed',
      attention_chunk: 128,
      bytes: 2.5e9,
    } as const;
    const short = { ...long, length: 512, rows: 16, activations: 'kept', attention_chunk: null } as const;
    expect(
      lineOf({ type: 'micro_batches', stage: 'sft', phase: 0, step: 1, plans: [short, long] })?.split('\n'),
    ).toEqual([
      'sft: micro-batches of 16 x 512 tokens, activations kept, 2.5 GB',
      'sft: micro-batches of 1 x 4096 tokens, activations recomputed, attention by 128 queries, 2.5 GB',
    ]);
    const small = { ...short, length: 32, rows: 256, bytes: 5e6 };
    const shortOnes = {
      type: 'micro_batches',
      stage: 'sft',
      phase: 0,
      step: 1,
      plans: [small, short],
    } as const;
    expect(lineOf({ ...shortOnes, plans: [...shortOnes.plans] })).toBe(
      'sft: micro-batches of 256 x 32, 16 x 512 tokens, activations kept, up to 2.5 GB',
    );
  });
});

/** Only what `follow` calls. */
const clientOf = (given: (signal: AbortSignal) => AsyncGenerator<JobEvent>): Client =>
  ({ events: (_job: string, { signal }: { signal: AbortSignal }) => given(signal) }) as unknown as Client;

function recorded(live: boolean): Screen & { readonly written: string[] } {
  const written: string[] = [];
  const output = { isTTY: live, columns: 60, write: (text: string) => written.push(text) };
  return { ...screenOn(output), live, written };
}

async function* replay(): AsyncGenerator<JobEvent> {
  yield* run;
}

describe('follow', () => {
  const never = new AbortController().signal;

  it('writes plain lines without a terminal, steps every five seconds', async () => {
    const screen = recorded(false);
    const view = await follow(clientOf(replay), 'job_x', screen, never);
    const lines = screen.written.join('').split('\n');
    expect(lines.filter((line) => line.includes('step '))).toEqual([
      'sft: step 1/4, loss 2.5000, 8.1k tokens/s',
      'math: step 1/10, reward 0.500',
    ]);
    expect(lines).toContain('job succeeded');
    expect(screen.written.join('')).not.toContain('\x1b');
    expect(endLine('job_x', view!)).toBe('job_x succeeded');
  });

  it('keeps one live line below the others on a terminal, cut to its width, and takes it away', async () => {
    const screen = recorded(true);
    await follow(clientOf(replay), 'job_x', screen, never);
    const live = screen.written.filter(
      (text) => text.startsWith('\r\x1b[K') && text.includes('sft (stage 1)'),
    );
    expect(live.length).toBeGreaterThan(0);
    for (const text of live) expect(text.length).toBeLessThanOrEqual('\r\x1b[K'.length + 59);
    const output = screen.written.join('');
    expect(output.slice(output.lastIndexOf('\r\x1b[K'))).not.toContain('stage');
  });

  it('gives undefined when the interrupt comes first', async () => {
    const interrupt = new AbortController();
    async function* endless(signal: AbortSignal): AsyncGenerator<JobEvent> {
      yield* run.slice(0, 5);
      interrupt.abort(new Error('interrupted'));
      await delay(60_000, undefined, { signal });
    }
    expect(await follow(clientOf(endless), 'job_x', recorded(true), interrupt.signal)).toBeUndefined();
  });
});
