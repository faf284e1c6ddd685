// millrace pull JOB|CHECKPOINT [--to DIR]
import { resolve } from 'node:path';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import type { Connection } from '../connection.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { bar, bytes } from '../format.ts';
import { chooseCheckpoint } from '../pull/choose.ts';
import { pull } from '../pull/pull.ts';
import type { Screen } from '../screen.ts';
import { screenOn } from '../screen.ts';

export const pullCommand: Command = {
  name: 'pull',
  summary: "bring a checkpoint, or a job's last one, to a directory",
  details: 'Hashes are verified. Run it again to go on where an interrupted pull ended.',
  arguments: [{ name: 'JOB|CHECKPOINT', help: 'id of a job or of a checkpoint' }],
  flags: {
    ...dataDirFlag,
    to: { type: 'string', value: 'DIR', help: 'directory to write to (default: the id of the checkpoint)' },
  },
  async run(given, interrupt) {
    const connection = connect(given, interrupt);
    const checkpoint = await chooseCheckpoint(connection.client, given.argument('JOB|CHECKPOINT'));
    const directory = resolve(given.text('to') ?? checkpoint.id);
    await pullShowing(connection, checkpoint, directory, screenOn(process.stderr), interrupt);
    console.log(directory);
    return exitCodes.succeeded;
  },
};

export async function pullShowing(
  connection: Connection,
  checkpoint: Checkpoint,
  directory: string,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const total = checkpoint.files.reduce((sum, { size }) => sum + size, 0);
  const onBytes = (done: number): void =>
    screen.status(
      `${checkpoint.id}  ${bar(done / Math.max(1, total), 20)} ${bytes(done)} of ${bytes(total)}`,
    );
  await pull({ connection, checkpoint, directory, onBytes, signal }).finally(() => screen.clear());
}
