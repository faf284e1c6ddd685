// A supervisor as a process of its own, as runner/main.ts starts it, but with a trainer chosen by the test.
import { pino } from 'pino';
import { readSettings, settledOn } from '../../../runner/supervisor/settings.ts';
import { Supervisor } from '../../../runner/supervisor/supervisor.ts';

const settings = {
  ...settledOn('cpu', { languages: [], missing: {} }, readSettings(process.env)),
  trainerEntry: process.env['TEST_TRAINER']!,
};
await new Supervisor(settings, process.env, new AbortController().signal, pino({ level: 'silent' })).run();
