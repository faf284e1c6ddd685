// millrace push DIR
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { bar, bytes } from '../format.ts';
import { hashFiles, modelFileNames } from '../push/model-files.ts';
import { push } from '../push/push.ts';
import { screenOn } from '../screen.ts';
import { UserError } from '../user-error.ts';

export const pushCommand: Command = {
  name: 'push',
  summary: 'bring a model directory in Hugging Face layout to the object store',
  details:
    'Prints the URI for `"init": {"from": "hf", "uri": …}` in a job spec. Files are known by their hashes: run it again to go\n' +
    'on where an interrupted push ended; a model that is there already is not sent again.',
  arguments: [
    { name: 'DIR', help: 'holds config.json, tokenizer.json, tokenizer_config.json and *.safetensors' },
  ],
  flags: dataDirFlag,
  async run(given, interrupt) {
    const { client } = connect(given, interrupt);
    const directory = resolve(given.argument('DIR'));
    const names = modelFileNames(directory);
    const total = names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    const screen = screenOn(process.stderr);
    const show = (what: string) => (done: number) =>
      screen.status(`${what} ${bar(done / Math.max(1, total), 20)} ${bytes(done)} of ${bytes(total)}`);
    try {
      const files = await hashFiles(directory, names, show('reading'), interrupt);
      const upload = await push({ client, directory, files, onBytes: show('sending'), signal: interrupt });
      screen.clear();
      if (upload.missing.length > 0)
        throw new UserError(`the service says that ${upload.missing.join(', ')} did not come: run it again`);
      console.log(upload.uri);
      return exitCodes.succeeded;
    } catch (error) {
      if (interrupt.aborted) throw interrupt.reason;
      throw error;
    } finally {
      screen.clear();
    }
  },
};
