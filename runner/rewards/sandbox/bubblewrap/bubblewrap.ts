// The strong back end: processes in namespaces of their own, by bubblewrap (https://github.com/containers/bubblewrap).
import { setTimeout as wait } from 'node:timers/promises';
import type { CodeLanguage } from '../../../../api/contract/grader.ts';
import type { Executor, LimitedProgram } from '../executor.ts';
import { down } from '../executor.ts';
import type { Conversation, Limits, Run } from '../sandbox.ts';
import type { Runtime } from './command.ts';
import { Execution } from './execution.ts';
import type { Interpreter } from './interpreter.ts';
import { whyNot, withAdvice } from './requirements.ts';
import { createScratch } from './scratch.ts';
import { Stock } from './stock.ts';
import { endedChildrenSeconds } from './usage.ts';

const runtimeOf: Readonly<Record<CodeLanguage, Runtime>> = {
  python: 'python',
  javascript: 'node',
  typescript: 'node',
};

/** How long the end of a program that has closed its side of a conversation may take. */
const ENDING_MILLISECONDS = 1000;

/** `limits` are those that started interpreters wait under. */
export async function createBubblewrap(limits: Limits): Promise<Executor> {
  const scratch = await createScratch();
  const stock = new Stock(scratch, limits);
  const before = endedChildrenSeconds();
  const take = (program: LimitedProgram) => stock.take(runtimeOf[program.language], program.limits);
  return {
    backEnd: 'bubblewrap',
    whyNot,
    withAdvice,
    run: async (program) => {
      try {
        return await runAlone(await take(program), program);
      } catch (cause) {
        return down(cause);
      }
    },
    converse: async (judge, candidate) => {
      const taken = await Promise.allSettled([take(judge), take(candidate)]);
      const [ofJudge, ofCandidate] = taken;
      if (ofJudge.status === 'fulfilled' && ofCandidate.status === 'fulfilled') {
        return conversation(ofJudge.value, judge, ofCandidate.value, candidate);
      }
      for (const one of taken) if (one.status === 'fulfilled') one.value.kill();
      const run = down(taken.find((one) => one.status === 'rejected')?.reason);
      return { judge: run, candidate: run };
    },
    cpuSeconds: () => endedChildrenSeconds() - before + stock.endedSeconds,
    close: async () => {
      await stock.close();
      await scratch.remove();
    },
  };
}

function runAlone(interpreter: Interpreter, program: LimitedProgram): Promise<Run> {
  interpreter.peer.destroy();
  return new Execution(interpreter, program).run;
}

async function conversation(
  judgeInterpreter: Interpreter,
  judge: LimitedProgram,
  candidateInterpreter: Interpreter,
  candidate: LimitedProgram,
): Promise<Conversation> {
  judgeInterpreter.peer.pipe(candidateInterpreter.peer).pipe(judgeInterpreter.peer);
  candidateInterpreter.peer.on('data', () => candidateInterpreter.look());
  // One that dies with something unread resets its stream: an error, after which a pipe ends nothing, and the judge would wait on.
  candidateInterpreter.peer.once('close', () => judgeInterpreter.peer.end());
  const judging = new Execution(judgeInterpreter, judge);
  const answering = new Execution(candidateInterpreter, candidate);
  const judged = await judging.run;
  // One that has hung up is about to end, or was stopped for something that is worth knowing.
  const { readableEnded, destroyed } = candidateInterpreter.peer;
  if (readableEnded || destroyed) await Promise.race([answering.run, wait(ENDING_MILLISECONDS)]);
  answering.stop('signal');
  return { judge: judged, candidate: await answering.run };
}
