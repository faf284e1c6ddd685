// Where a runner on the user's own machine may take models from, unless MILLRACE_MODEL_ROOTS says otherwise: below the
// home directory, where downloaded models lie, and below the directory that it is started in.
import { homedir } from 'node:os';
import { delimiter } from 'node:path';

export const localModelRoots = (): string => [...new Set([homedir(), process.cwd()])].join(delimiter);
