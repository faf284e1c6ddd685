// Rewards from a judging model: P(yes) of a yes/no question, or wins against the row's reference. The pair is asked for in
// both orders, since judges favour a place. What the judge fails at is unscored; only verdicts are numbers.
import type { GraderOf } from '../../../api/contract/grader.ts';
import type { SweRow, Task } from '../../../api/contract/task.ts';
import { judgedPart } from '../answer-part.ts';
import { goldText } from '../gold-text.ts';
import { Unreachable } from '../../../api/outgoing.ts';
import type { Reward } from '../reward.ts';
import { invalid, scored, unscored } from '../reward.ts';
import type { Verifier } from '../verifier.ts';
import type { AskJudge } from './ask.ts';
import { isRefusedForItsText } from './ask.ts';
import { groupJudge } from './group.ts';
import { promptText } from './material.ts';
import { judgeMessages, pairwiseTemplate, patchTemplate, yesNoTemplate } from './prompts.ts';
import type { Material } from './prompts.ts';
import { preferredAnswer, probabilityOfYes } from './verdict.ts';
import type { Preferred } from './verdict.ts';

export function judgeVerifier(
  { prompt, template, pairs }: Pick<GraderOf<'judge'>, 'prompt' | 'template' | 'pairs'>,
  ask: AskJudge,
): Verifier<Task> {
  // A judge need not be certain of the reference, and against itself it wins half: nothing to prove a row by.
  const goldResponse = () => undefined;
  if (prompt === 'group')
    return {
      grade: async () => unscored('verifier_down', comparesGroups),
      group: groupJudge({ template, pairs }, ask),
      maxScore: () => mostInGroup,
      goldResponse,
    };
  const score = prompt === 'yes_no' ? yesNo(ask, template) : pairwise(ask, template);
  return {
    grade: (task, response) => graded((answer) => score(task, answer), judgedPart(response)),
    maxScore: () => 1,
    goldResponse,
  };
}

const comparesGroups =
  'a judge with prompt "group" compares the answers of one group: one by itself is worth nothing';
/** As helpful as can be in a match with one that is, and far better all the same. */
const mostInGroup = 7.5;

type Score = (task: Task, answer: string) => Promise<Reward>;

const yesNo =
  (ask: AskJudge, template = yesNoTemplate): Score =>
  async (task, response) => {
    const material = { prompt: promptText(task.prompt), reference: referenceOf(task) ?? '(none)', response };
    return scored(await askYesNo(ask, template, material));
  };

const askYesNo = (ask: AskJudge, template: string, material: Material): Promise<number> =>
  ask(() => judgeMessages(template, material), probabilityOfYes, { logprobs: true });

const worth: Readonly<Record<Preferred, number>> = { first: 1, tie: 0.5, second: 0 };

/** `parts`: what the response got as the first and as the second of the pair. */
const pairwise =
  (ask: AskJudge, template = pairwiseTemplate): Score =>
  async (task, response) => {
    const reference = referenceOf(task);
    if (reference === undefined) throw new Error('a pairwise judge needs rows with a reference');
    const prompt = promptText(task.prompt);
    const askPair = (first: string, second: string): Promise<Preferred> =>
      ask(() => judgeMessages(template, { prompt, first, second, reference }), preferredAnswer, {
        logprobs: false,
      });
    const [before, after] = await Promise.all([askPair(response, reference), askPair(reference, response)]);
    const parts = { as_first: worth[before], as_second: 1 - worth[after] };
    return scored((parts.as_first + parts.as_second) / 2, parts);
  };

/** P(yes) that a change does what the row's gold patch does, for the swe grader; `change` is the response's own diff. */
export const judgePatch =
  (ask: AskJudge) =>
  (task: SweRow, change: string): Promise<Reward> =>
    graded(async (response) => {
      const material = { prompt: promptText(task.prompt), reference: task.patch, response };
      return scored(await askYesNo(ask, patchTemplate, material));
    }, change);

/** An answer of no length and no strangeness, which every judge takes. */
const canary = '0';

/**
 * A request that is refused while the same one with a canary for its answer is taken, is refused for the answer: too long
 * for the judge's context, mostly. Anything else is the judge's fault.
 */
async function graded(score: (answer: string) => Promise<Reward>, answer: string): Promise<Reward> {
  try {
    return await score(answer);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    const ofAnswer = isRefusedForItsText(error) && (await score(canary).then(isScored, () => false));
    if (ofAnswer) return invalid('unparsable', 0, `the judge takes no such answer: ${error.message}`);
    return unscored('unreachable', error.message);
  }
}

const isScored = ({ status }: Reward): boolean => status === 'scored';

const referenceOf = (task: Task): string | undefined => ('patch' in task ? task.patch : goldText(task));
