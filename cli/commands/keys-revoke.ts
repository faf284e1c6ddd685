// millrace keys revoke KEY
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';

export const keysRevokeCommand: Command = {
  name: 'keys revoke',
  summary: 'end a key at once',
  arguments: [{ name: 'KEY', help: 'id of a key, as keys list shows it' }],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const id = given.argument('KEY');
    await connect(given, interrupt).client.revokeKey(id);
    console.log(`${id} revoked`);
    return exitCodes.succeeded;
  },
};
