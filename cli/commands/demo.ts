// millrace demo: the whole way once, on this machine, with nothing prepared. Ends with three lines that say what was
// learnt, where it lies and how long it took.
import { join, resolve } from 'node:path';
import { createClient } from '../../api/client.ts';
import type { Command } from '../command.ts';
import type { Connection } from '../connection.ts';
import { dataDirAt } from '../data-dir.ts';
import { exitCodes } from '../exit-code.ts';
import { clock } from '../format.ts';
import { chooseCheckpoint } from '../pull/choose.ts';
import type { Screen } from '../screen.ts';
import { screenOn } from '../screen.ts';
import { withOneMachine } from '../serve/one-machine.ts';
import { cancelLeftJobs, refuseForeignServices } from '../serve/own-services.ts';
import { submit } from '../submit/submit.ts';
import { UserError } from '../user-error.ts';
import { endLine, follow } from '../watch/follow.ts';
import type { View } from '../watch/view.ts';
import { pullShowing } from './pull.ts';

const example = resolve(import.meta.dirname, '../../examples/digits.json');

interface Learnt {
  readonly reward: string;
  readonly directory: string;
}

export const demoCommand: Command = {
  name: 'demo',
  summary: 'start everything, train examples/digits.json, show it, stop everything',
  arguments: [],
  flags: {
    'data-dir': {
      type: 'string',
      value: 'DIR',
      help: 'where the demo keeps its things (default: .millrace/demo)',
    },
  },
  async run(given, interrupt, hurry) {
    refuseForeignServices(process.env, 'the demo');
    const startedAt = performance.now();
    const screen = screenOn(process.stdout);
    const dir = dataDirAt(
      given.text('data-dir') ?? join(process.env['MILLRACE_DATA'] ?? '.millrace', 'demo'),
    );
    screen.line(`starting Postgres, the API and a runner in ${dir.root}`);
    const options = {
      dir,
      host: '127.0.0.1',
      port: 0,
      withRunner: true,
      say: (text: string) => screen.line(text),
    };
    let learnt: Learnt;
    try {
      learnt = await withOneMachine(options, interrupt, hurry, async (address) => {
        screen.line(`the service listens on ${address.url}`);
        const connection = { client: createClient(address), options: address };
        return train(connection, join(dir.root, 'checkpoints'), screen, interrupt);
      });
    } catch (error) {
      if (!interrupt.aborted) throw error;
      screen.clear();
      screen.line('interrupted; everything that was started has been stopped');
      return exitCodes.interrupted;
    }
    screen.line(learnt.reward);
    screen.line(`checkpoint ${learnt.directory}`);
    screen.line(`took ${clock((performance.now() - startedAt) / 1000)}`);
    return exitCodes.succeeded;
  },
};

async function train(
  connection: Connection,
  checkpoints: string,
  screen: Screen,
  interrupt: AbortSignal,
): Promise<Learnt> {
  const { client } = connection;
  await cancelLeftJobs(client);
  const job = await submit(client, example, (text) => screen.line(text));
  screen.line(`posted ${example} as ${job.id}`);
  const view = await follow(client, job.id, screen, interrupt);
  if (view === undefined) {
    await client.cancelJob(job.id).catch(() => undefined);
    throw interrupt.reason;
  }
  if (view.state !== 'succeeded') throw new UserError(endLine(job.id, view));
  const checkpoint = await chooseCheckpoint(client, job.id);
  const directory = join(checkpoints, checkpoint.id);
  await pullShowing(connection, checkpoint, directory, screen, interrupt);
  return { reward: rewardLine(view), directory };
}

/** `reward before 0.012 after 0.534 (200 tasks x 8)` */
export function rewardLine({ evaluations }: View): string {
  const before = evaluations[0]?.cells[0];
  const after = evaluations.at(-1)?.cells[0];
  if (before === undefined || after === undefined) throw new Error('the example was not evaluated');
  const samples = before.metric.slice(before.metric.indexOf('@') + 1);
  return `reward before ${before.value.toFixed(3)} after ${after.value.toFixed(3)} (${before.tasks} tasks x ${samples})`;
}
