// As whom a sandbox runs. Root first becomes a user that nobody is, another one for every sandbox alive: bubblewrap then
// has no privileges to lose, and where the kernel counts processes per user (before Linux 5.14 across namespaces) one fork
// bomb does not take the forks of the others. An ordinary user stays who he is.

/** Above every range that Debian, systemd or a subuid file hands out, below 2^31. */
const FIRST_USER = 1_879_048_192;
const USERS_PER_PROCESS = 1024;

/** Those of this process, from `first` up to but not including `end`. */
export function sandboxUsers(): { readonly first: number; readonly end: number } {
  const first = FIRST_USER + (process.pid % 2 ** 17) * USERS_PER_PROCESS;
  return { first, end: first + USERS_PER_PROCESS };
}

export class Identities {
  readonly #first = sandboxUsers().first;
  readonly #root = process.getuid?.() === 0;
  #next = 0;

  /** The words to put before bubblewrap's. */
  next(): string[] {
    if (!this.#root) return [];
    const user = String(this.#first + this.#next);
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
