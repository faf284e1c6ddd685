// One question to a judging model behind an OpenAI-compatible endpoint, asked until it is answered as asked or patience ends.
import type { JudgeEndpoint } from '../../../api/contract/grader.ts';
import { durationMs } from '../../../api/contract/names.ts';
import type { Outgoing } from '../../../api/outgoing.ts';
import { shownUrl, Unreachable } from '../../../api/outgoing.ts';
import { parseJson } from '../parse-json.ts';
import type { Patience } from '../retries.ts';
import { boundedUntilDown, postWithRetries, Refused } from '../retries.ts';
import { withoutSecret } from '../secret.ts';
import type { JudgeMessage } from './prompts.ts';
import { completion } from './verdict.ts';
import type { Choice } from './verdict.ts';

const inFlight = 16;
/** Log-probabilities of a thousand tokens with twenty alternatives each are some megabytes. */
const answerBytes = 16 << 20;
/** The most that OpenAI gives. */
const alternatives = 20;
const shownCharacters = 200;

export interface JudgeOptions extends Pick<Patience, 'wait'> {
  readonly outgoing: Outgoing;
  /** The value, not its name. */
  readonly secret?: string | undefined;
}

/** What `read` makes of the judge's answer to the messages that `compose` writes, anew for each try. @throws Unreachable. */
export type AskJudge = <T>(
  compose: () => readonly JudgeMessage[],
  read: (choice: Choice) => T | undefined,
  wants: { readonly logprobs: boolean },
) => Promise<T>;

export function judgeAt(endpoint: JudgeEndpoint, options: JudgeOptions): AskJudge {
  const slots = boundedUntilDown(inFlight);
  const { secret } = options;
  // Some endpoints refuse to give log-probabilities: found out once.
  let givesLogprobs = true;
  const complete = async (messages: readonly JudgeMessage[], logprobs: boolean): Promise<Choice> => {
    const wanted = logprobs && givesLogprobs;
    try {
      return await completeOnce(endpoint, messages, wanted, options);
    } catch (error) {
      if (!wanted || !isRefusedForItsText(error)) throw error;
      const choice = await completeOnce(endpoint, messages, false, options);
      givesLogprobs = false;
      return choice;
    }
  };
  return (compose, read, { logprobs }) =>
    slots(async () => {
      for (let tried = 1; ; tried++) {
        const choice = await complete(compose(), logprobs);
        const verdict = read(choice);
        if (verdict !== undefined) return verdict;
        if (tried > endpoint.retries) throw noVerdict(endpoint, choice, tried);
      }
    }).catch((error: unknown) => {
      if (!(error instanceof Unreachable)) throw error;
      const message = withoutSecret(error.message, secret);
      throw error instanceof Refused
        ? new Refused(message, false, error.status)
        : new Unreachable(message, false);
    });
}

/** The endpoint is there and takes others: this request says something that it does not take, or says too much. */
export const isRefusedForItsText = (error: unknown): error is Refused =>
  error instanceof Refused && [400, 413, 422].includes(error.status);

function noVerdict({ url, model }: JudgeEndpoint, { message }: Choice, tries: number): Unreachable {
  const said = JSON.stringify((message.content ?? '').slice(-shownCharacters));
  return new Unreachable(
    `${shownUrl(url)}: judge ${model} gave no verdict in ${tries} tries; it ended with ${said}`,
    false,
  );
}

async function completeOnce(
  endpoint: JudgeEndpoint,
  messages: readonly JudgeMessage[],
  logprobs: boolean,
  { outgoing, secret, wait }: JudgeOptions,
): Promise<Choice> {
  const { url, model, temperature, max_tokens, timeout, retries } = endpoint;
  const body = JSON.stringify({
    model,
    messages,
    temperature,
    max_tokens,
    ...(logprobs ? { logprobs: true, top_logprobs: alternatives } : {}),
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
  };
  const target = chatUrl(url);
  const request = () => ({ headers, body, timeoutMs: durationMs(timeout), maxBytes: answerBytes });
  const answer = await postWithRetries(outgoing, target, request, { retries, wait });
  const parsed = completion.safeParse(parseJson(answer.body));
  if (!parsed.success) throw new Unreachable(`${shownUrl(target)}: its answer is no chat completion`, false);
  return parsed.data.choices[0]!;
}

/** The base's path gets "/chat/completions"; its query stays. */
function chatUrl(base: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url.href;
}
