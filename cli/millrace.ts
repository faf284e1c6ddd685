#!/usr/bin/env node
// The millrace command. It is a client of the service: whatever computes, stores or serves is started as a process.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from './command.ts';
import { cancelCommand } from './commands/cancel.ts';
import { pauseCommand } from './commands/pause.ts';
import { resumeCommand } from './commands/resume.ts';
import { chatCommand } from './commands/chat.ts';
import { demoCommand } from './commands/demo.ts';
import { explainCommand } from './commands/explain.ts';
import { jobsCommand } from './commands/jobs.ts';
import { keysCreateCommand } from './commands/keys-create.ts';
import { keysListCommand } from './commands/keys-list.ts';
import { keysRevokeCommand } from './commands/keys-revoke.ts';
import { keysRotateCommand } from './commands/keys-rotate.ts';
import { doctorCommand } from './commands/doctor.ts';
import { restoreCheckCommand } from './commands/restore-check.ts';
import { pullCommand } from './commands/pull.ts';
import { pushCommand } from './commands/push.ts';
import { runnerCommand } from './commands/runner.ts';
import { serveCommand } from './commands/serve.ts';
import { submitCommand } from './commands/submit.ts';
import { watchCommand } from './commands/watch.ts';
import { exitCodes } from './exit-code.ts';
import type { ExitCode } from './exit-code.ts';
import { explainError } from './explain-error.ts';
import { overview, page } from './help.ts';
import { parse } from './parse.ts';
import { UsageError } from './user-error.ts';

const commands: readonly Command[] = [
  demoCommand,
  serveCommand,
  runnerCommand,
  explainCommand,
  submitCommand,
  watchCommand,
  jobsCommand,
  cancelCommand,
  pauseCommand,
  resumeCommand,
  pullCommand,
  pushCommand,
  chatCommand,
  keysListCommand,
  keysCreateCommand,
  keysRotateCommand,
  keysRevokeCommand,
  doctorCommand,
  restoreCheckCommand,
];

async function main(words: readonly string[]): Promise<ExitCode> {
  const [interrupt, hurry] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () =>
      (interrupt.signal.aborted ? hurry : interrupt).abort(new Error(`interrupted by ${signal}`)),
    );
  try {
    const request = parse(words, commands);
    if (request.type === 'run')
      return await request.command.run(request.given, interrupt.signal, hurry.signal);
    console.log(
      request.type === 'version'
        ? version()
        : request.command === undefined
          ? overview(commands)
          : page(request.command),
    );
    return exitCodes.succeeded;
  } catch (error) {
    if (interrupt.signal.aborted && error === interrupt.signal.reason) return exitCodes.interrupted;
    console.error(`millrace: ${explainError(error)}`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
}

function version(): string {
  const manifest = readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8');
  return `millrace ${(JSON.parse(manifest) as { version: string }).version}`;
}

// A reader that has seen enough (`millrace jobs | head`) closes the pipe: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await main(process.argv.slice(2));
process.exit();
