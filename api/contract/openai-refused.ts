// Fields of OpenAI's API that have no counterpart here: refused by name, never ignored; null counts as not given.
import { z } from 'zod';

/** A field that nothing here does; null, which clients send for "not given", is no wish. */
export const unsupported = (name: string, why = 'this service does not compute it: leave it out') =>
  z.null({ error: `${name} is not supported: ${why}` }).optional();

/** The same where one value asks for nothing. */
export const only = <T extends string | number | boolean>(name: string, value: T) =>
  z
    .literal(value, { error: `${name} is not supported: leave it out, or send ${JSON.stringify(value)}` })
    .nullish();
