// millrace keys rotate KEY
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { keyLine } from './keys-create.ts';

export const keysRotateCommand: Command = {
  name: 'keys rotate',
  summary: 'give a key a new secret; the old one stays valid for a while',
  details:
    'The successor is printed once, as a line of JSON; it has an id of its own and the same name and scopes.',
  arguments: [{ name: 'KEY', help: 'id of a key, as keys list shows it' }],
  flags: {
    ...dataDirFlag,
    grace: {
      type: 'string',
      value: 'TIME',
      help: 'how long the old secret stays valid (default: 24h; 0s: not)',
    },
  },
  async run(given, interrupt) {
    const grace = given.text('grace');
    const { client } = connect(given, interrupt);
    const successor = await client.rotateKey(given.argument('KEY'), {
      ...(grace !== undefined && { grace }),
    });
    console.log(keyLine(successor));
    return exitCodes.succeeded;
  },
};
