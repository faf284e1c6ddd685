// The weak back end, for machines without bubblewrap: QuickJS compiled to WebAssembly, a thread for every run. It keeps
// programs from files, network and processes because it has none; it shares our process, so a hole in QuickJS,
// in V8's WebAssembly or in the few functions of `host` is a hole in us. docs/sandbox.md.
import { Worker } from 'node:worker_threads';
import { Capture } from '../capture.ts';
import type { Executor, LimitedProgram } from '../executor.ts';
import { down } from '../executor.ts';
import type { Output, Run, StoppedBy } from '../sandbox.ts';
import type { Peer, WorkerData, WorkerMessage } from './channel.ts';
import { createPeers, createWaitClock, hangUp, waitedMilliseconds } from './channel.ts';

const LOOK_MILLISECONDS = 20;
const START_MILLISECONDS = 30_000;
/** For Node.js inside the thread; the memory of WebAssembly is not in it. */
const HEAP_MEGABYTES = 128;

type End = { readonly by: StoppedBy } | { readonly code: number } | { readonly cause: string };

export async function createQuickJs(): Promise<Executor> {
  const running = new Set<QuickJsRun>();
  let seconds = 0;
  const start = (program: LimitedProgram, peer?: Peer): QuickJsRun => {
    const run = new QuickJsRun(program, peer);
    running.add(run);
    void run.result.finally(() => {
      running.delete(run);
      seconds += run.threadSeconds;
    });
    return run;
  };
  return {
    backEnd: 'quickjs',
    whyNot: async (language) => (language === 'python' ? 'QuickJS runs no Python' : undefined),
    withAdvice: (complaint) => complaint,
    run: (program) => start(program).result,
    converse: async (judge, candidate) => {
      const [ofJudge, ofCandidate] = createPeers();
      const answering = start(candidate, ofCandidate);
      const judging = start(judge, ofJudge);
      void answering.result.then(() => hangUp(ofJudge));
      const judged = await judging.result;
      answering.stop('signal');
      return { judge: judged, candidate: await answering.result };
    },
    cpuSeconds: () => seconds,
    close: async () => {
      for (const run of running) run.stop('signal');
      await Promise.all([...running].map(({ result }) => result));
    },
  };
}

class QuickJsRun {
  readonly result: Promise<Run>;
  readonly #program: LimitedProgram;
  readonly #clock = createWaitClock();
  readonly #captures: Readonly<Record<1 | 2 | 3, Capture>>;
  readonly #created = Date.now();
  #worker: Worker | undefined;
  #started: number | undefined;
  #ended: End | undefined;
  #busyUntil: number | undefined;
  #startSeconds = 0;
  #allSeconds: number | undefined;

  constructor(program: LimitedProgram, peer: Peer | undefined) {
    const capture = () => new Capture(program.limits.outputBytes, () => this.stop('output'));
    this.#program = program;
    this.#captures = { 1: capture(), 2: capture(), 3: capture() };
    this.result = this.#follow(peer);
  }

  /** CPU time of its thread, starting it included; of one that was stopped the program's part is what `cpuSeconds` says. */
  get threadSeconds(): number {
    return this.#allSeconds ?? this.#startSeconds + this.#busySeconds();
  }

  stop(by: StoppedBy): void {
    this.#end({ by });
  }

  #end(end: End): void {
    if (this.#ended !== undefined) return;
    this.#ended = end;
    this.#busyUntil = Date.now();
    void this.#worker?.terminate();
  }

  async #follow(peer: Peer | undefined): Promise<Run> {
    const { language, main, files = {}, stdin = '', limits } = this.#program;
    if (Object.keys(files).length > 0)
      return down('QuickJS has no files: put everything into the main program');
    const data: WorkerData = { language, main, stdin, limits, clock: this.#clock, ...(peer && { peer }) };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: data,
      transferList: peer ? [peer.port] : [],
      env: {},
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
    });
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => this.#hear(message));
    worker.on('error', (error) => this.#end({ cause: `the thread of QuickJS failed: ${error.message}` }));
    const look = setInterval(() => this.#look(), LOOK_MILLISECONDS);
    await new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    clearInterval(look);
    return this.#outcome();
  }

  #hear(message: WorkerMessage): void {
    if (message.type === 'started') {
      this.#started = Date.now();
      this.#startSeconds = message.cpuSeconds;
    }
    if (message.type === 'wrote') this.#captures[message.descriptor].add(Buffer.from(message.text));
    if (message.type === 'exited') {
      this.#allSeconds = message.cpuSeconds;
      this.#end({ code: message.code });
    }
    if (message.type === 'over') this.stop('output');
  }

  #look(): void {
    const { cpuSeconds, wallSeconds } = this.#program.limits;
    if (this.#started === undefined) {
      if (Date.now() - this.#created > START_MILLISECONDS) this.#end({ cause: 'QuickJS does not start' });
      return;
    }
    if (this.#busySeconds() > cpuSeconds) this.stop('cpu');
    if (Date.now() - this.#started > wallSeconds * 1000) this.stop('wall');
  }

  /** A thread that does not wait is taken to be computing. */
  #busySeconds(): number {
    const now = this.#busyUntil ?? Date.now();
    const since = this.#started ?? now;
    return (now - since - waitedMilliseconds(this.#clock, now)) / 1000;
  }

  #outcome(): Run {
    const end = this.#ended;
    const output: Output = {
      stdout: this.#captures[1].text(),
      stderr: this.#captures[2].text(),
      report: this.#captures[3].text(),
      cpuSeconds: this.#busySeconds(),
    };
    if (end === undefined) return { status: 'stopped', by: 'signal', ...output };
    if ('cause' in end) return down(end.cause);
    return 'by' in end ? { status: 'stopped', ...end, ...output } : { status: 'exited', ...end, ...output };
  }
}
