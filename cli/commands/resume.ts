// millrace resume JOB
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'queue a paused job again; it goes on from its last checkpoint',
  arguments: [{ name: 'JOB', help: 'id of a job' }],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const job = await connect(given, interrupt).client.resumeJob(given.argument('JOB'));
    console.log(`${job.id} ${job.state}`);
    return exitCodes.succeeded;
  },
};
