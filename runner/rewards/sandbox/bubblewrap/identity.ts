// As whom a sandbox runs. Root first becomes a user that nobody is, another one for every sandbox alive: bubblewrap then
// has no privileges to lose, and where the kernel counts processes per user (before Linux 5.14 across namespaces) one fork
// bomb does not take the forks of the others. An ordinary user stays who he is.

import { readFileSync } from 'node:fs';

/** Above every range that Debian, systemd or a subuid file hands out, below 2^31. */
const FIRST_USER = 1_879_048_192;
const USERS_PER_PROCESS = 1024;

/** In a container whose user namespace holds the usual 65,536 users. */
const FIRST_USER_OF_SMALL_NAMESPACE = 64_000;

/** Whether our user namespace knows a user at all: lines of first inside, first outside, count. */
function isMapped(user: number): boolean {
  const lines = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n');
  return lines.some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return user >= first && user < first + count;
  });
}

/** Those of a process that starts sandboxes, from `first` up to but not including `end`. */
export function sandboxUsers(launcher: number): { readonly first: number; readonly end: number } {
  const first = FIRST_USER + (launcher % 2 ** 17) * USERS_PER_PROCESS;
  const mapped = isMapped(first) ? first : FIRST_USER_OF_SMALL_NAMESPACE;
  return { first: mapped, end: mapped + USERS_PER_PROCESS };
}

export class Identities {
  readonly #root = process.getuid?.() === 0;
  #next = 0;

  /** The words to put before bubblewrap's. */
  next(): string[] {
    if (!this.#root) return [];
    const user = String(sandboxUsers(process.pid).first + this.#next);
    this.#next = (this.#next + 1) % USERS_PER_PROCESS;
    return [
      'setpriv',
      '--reuid',
      user,
      '--regid',
      user,
      '--clear-groups',
      '--inh-caps',
      '-all',
      '--no-new-privs',
    ];
  }
}
