// How fast small programs run in a sandbox, from the call to its end with the outcome: with an interpreter started in advance,
// and `cold` where there is none (limits that no waiting interpreter has). And how many a second each core gets done.
// Part of the bench `rewards`.
import { availableParallelism } from 'node:os';
import type { CodeLanguage } from '../../api/contract/grader.ts';
import { openSandbox } from '../../runner/rewards/sandbox/open.ts';
import type { BackEnd, Program, Sandbox } from '../../runner/rewards/sandbox/sandbox.ts';
import type { BenchResult } from './report.ts';
import { percentile, summary } from './report.ts';

const START_GOAL_MILLISECONDS = 80;

const greetings: Readonly<Record<BackEnd, Partial<Record<CodeLanguage, string>>>> = {
  bubblewrap: { python: 'print("hello")', javascript: 'console.log("hello")' },
  quickjs: { javascript: 'host.write(1, "hello\\n")' },
};

async function milliseconds(sandbox: Sandbox, program: Program): Promise<number> {
  const before = performance.now();
  const run = await sandbox.run(program);
  if (run.status !== 'exited' || run.stdout !== 'hello\n')
    throw new Error(`a run failed: ${JSON.stringify(run)}`);
  return performance.now() - before;
}

async function inTurn(runs: number, sandbox: Sandbox, program: Program): Promise<number[]> {
  const samples: number[] = [];
  for (let at = 0; at < runs; at++) samples.push(await milliseconds(sandbox, program));
  return samples;
}

async function ofLanguage(
  sandbox: Sandbox,
  language: CodeLanguage,
  main: string,
  runs: number,
): Promise<BenchResult[]> {
  const { backEnd } = sandbox;
  const cold = await inTurn(runs, sandbox, {
    language,
    main,
    limits: { fileBytes: sandbox.limits.fileBytes - 1 },
  });
  const started = await inTurn(runs, sandbox, { language, main });
  const before = performance.now();
  await Promise.all(Array.from({ length: 2 * runs }, () => milliseconds(sandbox, { language, main })));
  const rate = (2 * runs) / ((performance.now() - before) / 1000) / availableParallelism();
  const goal = language === 'python' ? START_GOAL_MILLISECONDS : null;
  return [
    percentile(`sandbox_${backEnd}_${language}_cold_p50`, 'ms', 0.5, cold),
    percentile(`sandbox_${backEnd}_${language}_cold_p99`, 'ms', 0.99, cold),
    percentile(`sandbox_${backEnd}_${language}_p50`, 'ms', 0.5, started, { goal }),
    percentile(`sandbox_${backEnd}_${language}_p99`, 'ms', 0.99, started),
    summary(`sandbox_${backEnd}_${language}_rate`, 'runs/s/core', [rate]),
  ];
}

/** Of every back end and language that this machine has. */
export async function sandboxBench(runs = 100): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const backEnd of ['bubblewrap', 'quickjs'] as const) {
    const sandbox = await openSandbox({ backEnds: [backEnd] });
    for (const language of sandbox.languages) {
      const main = greetings[backEnd][language];
      if (main !== undefined) results.push(...(await ofLanguage(sandbox, language, main, runs)));
    }
    await sandbox.close();
  }
  return results;
}
