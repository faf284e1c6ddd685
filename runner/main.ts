// Entry of a runner: the supervisor process. SIGTERM and SIGINT stop it: the step at work is finished and kept, the job is
// given back, every child ends; a second one stops it at once. Settings are environment variables, listed in supervisor/settings.ts.
import { pino } from 'pino';
import type { Logger } from 'pino';
import { findAbilities } from './supervisor/abilities.ts';
import { findAccelerator } from './supervisor/accelerator.ts';
import { SettingsError, readSettings, settledOn } from './supervisor/settings.ts';
import type { Settings } from './supervisor/settings.ts';
import { RunnerRefused, Supervisor } from './supervisor/supervisor.ts';

/** Asks the machine for the accelerator that the environment asks for, and for what code it can run. */
async function settingsOrExit(log: Logger): Promise<Settings> {
  try {
    const asked = readSettings(process.env);
    const [{ accelerator, told }, abilities] = await Promise.all([
      findAccelerator(asked.accelerator, process.env),
      findAbilities(asked.graderEntry, process.env),
    ]);
    for (const line of told) log.info(line);
    log.info(abilities, 'code that graders can run here');
    return settledOn(accelerator, abilities, asked);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const log = pino({ name: 'runner' });
  const stopping = new AbortController();
  const hurry = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (hurry.signal.aborted) process.exit(1); // asked three times: nothing is said any more
      const next = stopping.signal.aborted ? hurry : stopping;
      log.info({ signal }, next === hurry ? 'stopping at once' : 'stopping after the step at work');
      next.abort();
    });
  }
  const settings = await settingsOrExit(log);
  if (stopping.signal.aborted) return;
  try {
    await new Supervisor(settings, process.env, stopping.signal, log, hurry.signal).run();
  } catch (error) {
    if (!(error instanceof RunnerRefused)) throw error;
    log.fatal(error.message);
    process.exitCode = 3;
  }
}

await main();
