// What a rollout is worth, as a sum type: an answer that cannot be scored by its own fault and one that could not
// be scored by ours must never become the same number.

export type Reward = Scored | Invalid | Unscored;

interface Scored {
  readonly status: 'scored';
  readonly value: number;
  readonly parts: Readonly<Record<string, number>>;
  /** For people: which test failed, which instruction was not followed. */
  readonly detail?: string;
}

/** The answer's own fault; it counts `value` unless the stage says otherwise. */
interface Invalid {
  readonly status: 'invalid';
  readonly code: InvalidCode;
  readonly value: number;
  readonly detail?: string;
}

/** Our fault: enters neither loss nor statistics. */
interface Unscored {
  readonly status: 'unscored';
  readonly code: UnscoredCode;
  readonly detail?: string;
}

/**
 * `timeout`: the answer costs more than its limit, and a canary did not. `broken_row`: the task's own gold is no gold;
 * registration refuses such rows.
 */
export type InvalidCode = 'no_answer' | 'unparsable' | 'timeout';
export type UnscoredCode = 'sandbox_down' | 'verifier_down' | 'unreachable' | 'no_backend' | 'broken_row';

const explained = (detail: string | undefined) => (detail === undefined ? {} : { detail });

export const scored = (
  value: number,
  parts: Readonly<Record<string, number>> = {},
  detail?: string,
): Reward => ({ status: 'scored', value, parts, ...explained(detail) });
export const invalid = (code: InvalidCode, value = 0, detail?: string): Reward => ({
  status: 'invalid',
  code,
  value,
  ...explained(detail),
});
export const unscored = (code: UnscoredCode, detail?: string): Reward => ({
  status: 'unscored',
  code,
  ...explained(detail),
});
