// A request that this model cannot answer, for a reason that the client can mend. The codes are those of the API's problems.
import type { ProblemCode } from '../../api/contract/problem.ts';

export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: ProblemCode;
  /** The field that is wrong, where one is. */
  readonly pointer: string;

  constructor(code: ProblemCode, message: string, pointer = '') {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}
