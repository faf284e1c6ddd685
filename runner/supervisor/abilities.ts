// Which code this runner can run, before it registers: a grader process looks at the machine, says so, and ends.
import type { Abilities, FromGrader, ToGrader } from '../ipc.ts';
import { endChild, exitOf, forkChild } from './child.ts';
import { withoutSecrets } from './trainer-process.ts';

const limitMs = 30_000;

/** Nothing but reasons where the process cannot say. */
export async function findAbilities(entry: string, env: NodeJS.ProcessEnv): Promise<Abilities> {
  const child = forkChild(entry, { env: withoutSecrets(env), output: 'inherit' });
  let found: Abilities | undefined;
  child.on('message', (message: FromGrader) => {
    if (message.type === 'abilities') found = message.abilities;
  });
  child.send({ type: 'describe' } satisfies ToGrader, () => undefined);
  const exited = exitOf(child);
  const late = setTimeout(() => void endChild(child, exited, 0), limitMs);
  const { code, signal, error } = await exited;
  clearTimeout(late);
  const how = error?.message ?? signal ?? `code ${code}`;
  return (
    found ?? { languages: [], missing: { code: `the grader process ended with ${how} before it answered` } }
  );
}
