// What is scored of a response that may think first: only what stands after the thinking block.

const CLOSE = '</think>';

/** The text after the last `</think>`; all of it where there is no thinking; undefined where thinking never ended. */
export function answerPart(response: string): string | undefined {
  const end = response.lastIndexOf(CLOSE);
  if (end >= 0) return response.slice(end + CLOSE.length);
  return response.includes('<think>') ? undefined : response;
}

/**
 * What a reward model or a judge sees: the text after the thinking, and all of it where thinking never ended, which is
 * worth little by itself (Nemotron-Cascade, arXiv 2512.13607, section 4.3).
 */
export const judgedPart = (response: string): string =>
  (answerPart(response) ?? response).replace(/^\n+/, '');
