// What decides whether a response follows one instruction. A check is synchronous, pure and linear in the response: what a
// model wrote must never hang it. When unsure it says false.
import type { z } from 'zod';

export interface CheckContext {
  /** What the model was asked: the text of the row's prompt, of several messages the last user's. */
  readonly prompt: string;
}

/** `response` is not blank; what came before the end of the thinking block is already cut off. */
export type Check<Arguments> = (response: string, args: Arguments, context: CheckContext) => boolean;

/** One check for each id of a table of argument schemas: an id without a check does not compile. */
export type ChecksFor<Schemas extends Readonly<Record<string, z.ZodType>>> = {
  readonly [Id in keyof Schemas]: Check<z.infer<Schemas[Id]>>;
};
