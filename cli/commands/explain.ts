// millrace explain FILE [--json]
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { Command, Given } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { explain } from '../explain/explanation.ts';
import { explanationText } from '../explain/text.ts';
import { readSpecFile } from '../submit/spec-file.ts';
import { UserError } from '../user-error.ts';

export const explainCommand: Command = {
  name: 'explain',
  summary: 'say what a job spec means: defaults, lengths, memory, runners that could hold it',
  details:
    'Works without a service; with one, checkpoints are looked up and runners are named. Nothing is posted or uploaded.\n' +
    'Ends with 1 where the spec cannot be right; what only the service knows is looked at when the job is posted.',
  arguments: [{ name: 'FILE', help: 'a job spec, JSON' }],
  flags: { ...dataDirFlag, json: { type: 'boolean', help: 'print it as JSON' } },
  async run(given, interrupt) {
    const { spec } = readSpecFile(given.argument('FILE'));
    const explanation = await explain(spec, await answeringService(given, interrupt));
    if (given.on('json')) console.log(JSON.stringify(explanation, null, 2));
    else for (const line of explanationText(explanation)) console.log(line);
    return explanation.issues.length === 0 ? exitCodes.succeeded : exitCodes.failed;
  },
};

/** Undefined where none is known, or the one that is does not answer. */
async function answeringService(given: Given, interrupt: AbortSignal): Promise<Client | undefined> {
  try {
    const client = createClient({ ...connect(given, interrupt).options, tries: 1 });
    await client.runners({ limit: 1 });
    return client;
  } catch (error) {
    interrupt.throwIfAborted();
    if (!(error instanceof UserError)) console.error(`no service is asked: ${(error as Error).message}`);
    return undefined;
  }
}
