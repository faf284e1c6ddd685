// API keys. A key belongs to one project and sees only what that project owns.
import { z } from 'zod';

/**
 * operator: the whole service: projects, their quotas, their keys. admin: everything in its project. submit: post and cancel, and all
 * that read may. runner: the runner protocol and nothing else. shared_runner: the same, for the jobs of every project.
 */
export const scopes = ['operator', 'admin', 'submit', 'read', 'runner', 'shared_runner'] as const;
export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;
