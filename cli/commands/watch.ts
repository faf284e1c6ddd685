// millrace watch JOB
import type { Client } from '../../api/client.ts';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import type { ExitCode } from '../exit-code.ts';
import { exitCodes } from '../exit-code.ts';
import type { Screen } from '../screen.ts';
import { screenOn } from '../screen.ts';
import { endLine, follow } from '../watch/follow.ts';

export const watchCommand: Command = {
  name: 'watch',
  summary: 'follow a job to its end',
  details:
    'Ends with 0 when the job succeeded, 1 when it failed, 3 when it was cancelled. Ctrl-C only stops watching.',
  arguments: [{ name: 'JOB', help: 'id of a job' }],
  flags: dataDirFlag,
  run: (given, interrupt) =>
    watch(connect(given, interrupt).client, given.argument('JOB'), screenOn(process.stdout), interrupt),
};

/** The exit code says how the job ended. */
export async function watch(
  client: Client,
  job: string,
  screen: Screen,
  interrupt: AbortSignal,
): Promise<ExitCode> {
  const view = await follow(client, job, screen, interrupt);
  if (view === undefined) {
    screen.line(
      `stopped watching; ${job} is left as it is. millrace watch ${job} comes back, millrace cancel ${job} ends it.`,
    );
    return exitCodes.interrupted;
  }
  screen.line(endLine(job, view));
  if (view.state === 'succeeded') return exitCodes.succeeded;
  return view.state === 'cancelled' ? exitCodes.cancelled : exitCodes.failed;
}
