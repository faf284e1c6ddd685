// API keys. A key belongs to one project and sees only what that project owns.
import { z } from 'zod';

/** admin: everything. submit: post and cancel, and all that read may. runner: the runner protocol and nothing else. */
export const scopes = ['admin', 'submit', 'read', 'runner'] as const;
export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;
