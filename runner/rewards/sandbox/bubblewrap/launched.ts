// Bubblewrap as the runner's processes use it: through a small process that starts the sandboxes, so that starting one costs
// nothing of what the runner holds in memory. A launcher that was killed is replaced with the next program.
import type { Executor } from '../executor.ts';
import { down } from '../executor.ts';
import type { Limits } from '../sandbox.ts';
import { Launcher } from './launcher.ts';
import type { Programs, Runs } from './launcher-messages.ts';
import { whyNot, withAdvice } from './requirements.ts';

/** Starts nothing before the first program comes. `limits`: as of the interpreters that wait. */
export async function createLaunchedBubblewrap(limits: Limits): Promise<Executor> {
  let launcher: Launcher | undefined;
  let cpuSecondsBefore = 0;
  let closed = false;
  const living = (): Launcher => {
    if (launcher?.alive) return launcher;
    cpuSecondsBefore += launcher?.cpuSeconds ?? 0;
    return (launcher = new Launcher(limits));
  };
  const run = async <P extends Programs>(programs: P): Promise<Runs<P>> =>
    closed
      ? (programs.map(() => down('this sandbox is closed')) as unknown as Runs<P>)
      : living().run(programs);
  return {
    backEnd: 'bubblewrap',
    whyNot,
    withAdvice,
    run: async (program) => (await run([program]))[0],
    converse: async (...programs) => {
      const [judge, candidate] = await run(programs);
      return { judge, candidate };
    },
    cpuSeconds: () => cpuSecondsBefore + (launcher?.cpuSeconds ?? 0),
    close: async () => {
      closed = true;
      await launcher?.close();
    },
  };
}
