// Where the acceptance runs of the small world take place: its data are generated, then everything runs on this machine, with its state
// in a folder from which the next run goes on.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import { dataDirAt } from '../../cli/data-dir.ts';
import type { Screen } from '../../cli/screen.ts';
import { withOneMachine } from '../../cli/serve/one-machine.ts';
import { refuseForeignServices } from '../../cli/serve/own-services.ts';

const root = resolve(import.meta.dirname, '../..');
const generator = join(root, 'examples/small-world/generate.ts');

/** `seeds`: comma-separated. */
export const seedsOf = (seeds: string): number[] => seeds.split(',').map(Number);

export interface Place {
  readonly dataDir: string;
  readonly screen: Screen;
  readonly interrupt: AbortSignal;
  readonly hurry: AbortSignal;
}

/** `work` gets a client with an admin's key. */
export async function onOneMachine(
  { dataDir, screen, interrupt, hurry }: Place,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  refuseForeignServices(process.env, 'the acceptance run');
  await promisify(execFile)(process.execPath, [generator], { signal: interrupt });
  const dir = dataDirAt(dataDir);
  const say = (text: string): void => screen.line(text);
  say(`its state is in ${dir.root}: started again it goes on where it was`);
  const machine = { dir, host: '127.0.0.1', port: 0, withRunner: true, say };
  await withOneMachine(machine, interrupt, hurry, (address) => work(createClient(address)));
}
