// The sandbox of this machine: takes the first back end that can run something and keeps what its canaries prove.
import { availableParallelism } from 'node:os';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import { codeLanguage } from '../../../api/contract/grader.ts';
import { bounded } from '../batched.ts';
import { createLaunchedBubblewrap } from './bubblewrap/launched.ts';
import { canaryComplaint, canaryProgram } from './canary.ts';
import type { Executor, LimitedProgram } from './executor.ts';
import { broken } from './executor.ts';
import { defaultLimits } from './limits.ts';
import { createQuickJs } from './quickjs/quickjs.ts';
import type { BackEnd, Limits, Program, Sandbox, SandboxOptions } from './sandbox.ts';

const create: Readonly<Record<BackEnd, (limits: Limits) => Promise<Executor>>> = {
  bubblewrap: createLaunchedBubblewrap,
  quickjs: createQuickJs,
};

type Missing = Partial<Record<CodeLanguage, string>>;

/** Never fails for what a machine has not: a sandbox without languages says why in `missing`. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const limits = { ...defaultLimits, ...options.limits };
  const slots = options.slots ?? availableParallelism();
  let missing: Missing = {};
  let last: Sandbox | undefined;
  for (const backEnd of options.backEnds ?? (['bubblewrap', 'quickjs'] as const)) {
    await last?.close();
    last = await tried(
      await create[backEnd](limits).catch((cause) => broken(backEnd, cause)),
      limits,
      slots,
      missing,
    );
    if (last.languages.length > 0) return last;
    missing = last.missing;
  }
  if (last === undefined) throw new Error('a sandbox needs a back end: bubblewrap or quickjs');
  return last;
}

/** `before`: what was missing in the back ends tried before, which is what a user would rather have. */
async function tried(executor: Executor, limits: Limits, slots: number, before: Missing): Promise<Sandbox> {
  const missing: Missing = {};
  const languages: CodeLanguage[] = [];
  for (const language of codeLanguage.options) {
    const complaint = await complaintOf(executor, language, limits);
    if (complaint === undefined) languages.push(language);
    else missing[language] = before[language] ?? complaint;
  }
  return sandboxOf(executor, limits, slots, languages, missing);
}

async function complaintOf(
  executor: Executor,
  language: CodeLanguage,
  limits: Limits,
): Promise<string | undefined> {
  const known = await executor.whyNot(language);
  if (known !== undefined) return known;
  const complaint = canaryComplaint(
    await executor.run({ ...canaryProgram(language, executor.backEnd), limits }),
  );
  return complaint === undefined ? undefined : executor.withAdvice(complaint);
}

function sandboxOf(
  executor: Executor,
  limits: Limits,
  slots: number,
  languages: readonly CodeLanguage[],
  missing: Missing,
): Sandbox {
  const inTurn = bounded(slots);
  const limited = (program: Program): LimitedProgram => ({
    ...program,
    limits: { ...limits, ...program.limits },
  });
  const run = (program: Program) => inTurn(() => executor.run(limited(program)));
  return {
    backEnd: executor.backEnd,
    languages,
    missing,
    limits,
    slots,
    run,
    converse: (judge, candidate) => inTurn(() => executor.converse(limited(judge), limited(candidate))),
    canary: async (language) => canaryComplaint(await run(canaryProgram(language, executor.backEnd))),
    cpuSeconds: () => executor.cpuSeconds(),
    close: () => executor.close(),
  };
}
