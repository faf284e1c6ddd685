// millrace cancel JOB
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'end a job; its last checkpoint is kept',
  arguments: [{ name: 'JOB', help: 'id of a job' }],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const job = await connect(given, interrupt).client.cancelJob(given.argument('JOB'));
    console.log(`${job.id} ${job.state}`);
    return exitCodes.succeeded;
  },
};
