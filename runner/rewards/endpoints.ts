// What graders reach beyond this process, made from what a spec names: a service with its secret, a judge, a reward model.
import type { GraderOf, JudgeEndpoint } from '../../api/contract/grader.ts';
import { allowsPrivateAddresses } from '../../api/contract/outgoing.ts';
import { judgeAt } from './judge/ask.ts';
import type { AskJudge } from './judge/ask.ts';
import type { Means } from './means.ts';
import { Outgoing } from '../../api/outgoing.ts';
import type { ScoreAnswers } from './preference.ts';
import { resolveSecret } from './secret.ts';

/** @throws MissingSecret. */
export function reached({ secret }: Pick<JudgeEndpoint, 'secret'>, { env = process.env }: Means) {
  return {
    outgoing: new Outgoing({ allowPrivate: allowsPrivateAddresses(env) }),
    secret: secret === undefined ? undefined : resolveSecret(secret, env),
  };
}

/** For every grader that asks a judging model. @throws MissingSecret. */
export const createJudge = (endpoint: JudgeEndpoint, means: Means): AskJudge =>
  judgeAt(endpoint, reached(endpoint, means));

export function rewardModel({ model }: GraderOf<'preference'>, { rewardModels }: Means): ScoreAnswers {
  const score = rewardModels?.get(model);
  if (score === undefined) throw new Error(`the reward model ${model} was not brought to this process`);
  return score;
}
