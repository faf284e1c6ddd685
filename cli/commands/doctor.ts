// millrace doctor
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { checksHere } from '../doctor/checks-here.ts';
import { checksOfService } from '../doctor/checks-of-service.ts';
import { checkLine } from '../doctor/text.ts';
import { exitCodes } from '../exit-code.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'look whether everything that a service or a runner needs is there',
  details:
    'Looks at this machine, at the service that is known here (MILLRACE_URL and MILLRACE_KEY, or a data directory), and at\n' +
    'the database and the store that DATABASE_URL and STORE_URL name. What is not named is skipped. Exits with 1 where\n' +
    'something is broken.',
  arguments: [],
  flags: { ...dataDirFlag, json: { type: 'boolean', help: 'one JSON object a check' } },
  async run(given, interrupt) {
    let broken = 0;
    for await (const check of allChecks()) {
      if (check.result === 'broken') broken += 1;
      console.log(given.on('json') ? JSON.stringify(check) : checkLine(check));
    }
    return broken === 0 ? exitCodes.succeeded : exitCodes.failed;

    async function* allChecks() {
      yield* checksHere(interrupt);
      yield* checksOfService(given, interrupt);
    }
  },
};
