// A check as a line.
import type { Check } from '../../api/contract/check.ts';

const marks = { ok: 'ok     ', broken: 'BROKEN ', skipped: 'skipped' } as const satisfies Record<
  Check['result'],
  string
>;

export const checkLine = ({ name, result, found, advice }: Check): string =>
  `${marks[result]}  ${name}: ${found}${advice === '' ? '' : `. What to do: ${advice}`}`;
