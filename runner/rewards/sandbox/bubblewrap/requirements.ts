// What bubblewrap needs of a machine, and what to do where it is not there.
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeLanguage } from '../../../../api/contract/grader.ts';

export const COMMAND_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
export const PYTHON = '/usr/bin/python3';

interface Tool {
  readonly command: string;
  readonly package: string;
}

const tools: readonly Tool[] = [
  { command: 'bwrap', package: 'bubblewrap' },
  { command: 'prlimit', package: 'util-linux' },
];
/** Only root has to become somebody else. */
const toolsOfRoot: readonly Tool[] = [{ command: 'setpriv', package: 'util-linux' }];

const exists = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const onPath = async (command: string, path: string): Promise<boolean> =>
  (await Promise.all(path.split(':').map((folder) => exists(join(folder, command))))).some(Boolean);

/** Why no program of this language can run here, as far as one can tell without trying. */
export async function whyNot(
  language: CodeLanguage,
  { path = COMMAND_PATH, python = PYTHON } = {},
): Promise<string | undefined> {
  if (process.platform !== 'linux') return `bubblewrap needs Linux, this is ${process.platform}`;
  for (const tool of [...tools, ...(process.getuid?.() === 0 ? toolsOfRoot : [])]) {
    if (!(await onPath(tool.command, path))) {
      return `${tool.command} is not installed: apt-get install ${tool.package}`;
    }
  }
  if (language !== 'python' || (await exists(python))) return undefined;
  return `${python} is not there: apt-get install python3`;
}

const knownComplaints: readonly { readonly says: RegExp; readonly advice: string }[] = [
  {
    says: /new namespace|uid map|user namespaces|NEWUSER|max_user_namespaces/i,
    advice:
      'user namespaces are closed to ordinary users here: set kernel.unprivileged_userns_clone=1 (Debian), ' +
      'user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for ' +
      'bwrap (Ubuntu), or in a container allow unshare and mount in its seccomp profile',
  },
  {
    says: /mounting proc|mount proc/i,
    advice: 'the container masks parts of /proc: run it with an unmasked /proc',
  },
  { says: /unknown option/i, advice: 'bubblewrap 0.8.0 or newer is needed' },
];

/** The complaint, with what to do about it where we know. */
export function withAdvice(complaint: string): string {
  const known = knownComplaints.find(({ says }) => says.test(complaint));
  return known === undefined ? complaint : `${complaint} (${known.advice})`;
}
