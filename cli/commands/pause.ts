// millrace pause JOB
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';

export const pauseCommand: Command = {
  name: 'pause',
  summary: 'stop a job after the step at work; what it has learnt is kept, and it goes on when resumed',
  arguments: [{ name: 'JOB', help: 'id of a job' }],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const job = await connect(given, interrupt).client.pauseJob(given.argument('JOB'));
    console.log(`${job.id} ${job.state}`);
    return exitCodes.succeeded;
  },
};
