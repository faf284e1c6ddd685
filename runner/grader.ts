// The grader process: forked by the supervisor, it does the errands that come, one at a time, and never talks to the service. Its
// secrets are withheld from it. It ends when its parent is gone; what it holds open is closed first.
import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '../api/contract/task.ts';
import { DataError } from './data/error.ts';
import { gradeItems } from './grader/grade.ts';
import { InvalidRewardModel } from './grader/held-reward-model.ts';
import type { OpenGraders } from './grader/open-graders.ts';
import { findAbilities, openGraders } from './grader/open-graders.ts';
import { GoldUnscored, validateGold } from './grader/validate.ts';
import { MissingSecret } from './rewards/secret.ts';
import type { Verifier } from './rewards/verifier.ts';
import type { FromGrader, GraderOutcome, GraderWork, ToGrader } from './ipc.ts';

/** For closing, before the process ends anyway. */
const closeMs = 1_000;

let graders: OpenGraders | undefined;
let graded = 0;

function send(message: FromGrader, sent: () => void = () => undefined): void {
  process.send?.(message, () => sent());
}

class NotOpened extends Error {}

/** What fails to open now may be there for the next errand. */
async function verifierFor(work: GraderWork): Promise<Verifier<Task>> {
  graders ??= openGraders();
  try {
    return await graders.verifier(work.grader, work.kind === 'grade' ? work.rewardModel : undefined);
  } catch (cause) {
    if (cause instanceof MissingSecret || cause instanceof InvalidRewardModel) throw cause;
    throw new NotOpened(`the grader cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

async function perform(work: GraderWork): Promise<GraderOutcome> {
  const verifier = await verifierFor(work);
  const onGraded = (): void => void graded++;
  if (work.kind === 'grade')
    return { type: 'graded', results: await gradeItems(verifier, work.grader, work.items, onGraded) };
  return { type: 'validated', report: await validateGold(verifier, work.rows, work.file, onGraded) };
}

function failure(error: unknown): GraderOutcome {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof GoldUnscored || error instanceof NotOpened) return { type: 'unavailable', message };
  if (error instanceof DataError || error instanceof MissingSecret || error instanceof InvalidRewardModel)
    return { type: 'failed', reason: 'invalid_data', message };
  console.error(error);
  return { type: 'failed', reason: 'grader_failed', message };
}

async function describe(): Promise<void> {
  send({ type: 'abilities', abilities: await findAbilities() }, () => process.exit());
}

async function close(): Promise<void> {
  await Promise.race([graders?.close(), delay(closeMs)]);
}

process.on('message', (message: ToGrader) => {
  if (message.type === 'describe') return void describe();
  void perform(message.work)
    .catch(failure)
    .then((outcome) => send({ type: 'outcome', outcome }));
});
setInterval(() => send({ type: 'alive', graded }), 1_000).unref();
// Ctrl-C of the terminal is the supervisor's to act on.
process.on('SIGINT', () => undefined);
for (const end of ['disconnect', 'SIGTERM'] as const)
  process.once(end, () => void close().finally(() => process.exit()));
