// One supervisor in this process with real children, a fake service and a real filesystem store, torn down together.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { defaultTiming } from '../../../runner/supervisor/settings.ts';
import type { Settings } from '../../../runner/supervisor/settings.ts';
import { Supervisor } from '../../../runner/supervisor/supervisor.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { FakeService } from './fake-service.ts';

const runnerFolder = resolve(import.meta.dirname, '../../../runner');

/** Fails with `what` when the condition does not come true in time; for real processes only. */
export async function until(what: string, condition: () => boolean, limitMs = 15_000): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > limitMs) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await delay(20);
  }
}

export interface Bench {
  readonly service: FakeService;
  readonly storeDir: string;
  readonly scratch: string;
  readonly settings: Settings;
  /** What children get as their environment; may be changed until the first claim. */
  readonly env: NodeJS.ProcessEnv;
  /** Process ids that the scripted trainer told. */
  pids(): number[];
  stop(): Promise<void>;
  readonly ended: Promise<void>;
}

export async function startBench(
  prepare: (service: FakeService) => void = () => undefined,
  changes: Partial<Settings> = {},
): Promise<Bench & AsyncDisposable> {
  const dir = await tempDir('supervisor');
  const service = await new FakeService().start();
  prepare(service);
  const [storeDir, scratch, pidFile] = [
    join(dir.path, 'store'),
    join(dir.path, 'scratch'),
    join(dir.path, 'pids.json'),
  ];
  const env = {
    ...process.env,
    STORE_URL: pathToFileURL(storeDir).href,
    SCRIPT_PIDS: pidFile,
    MILLRACE_STORE_RETRY_MS: '1000',
  };
  const settings: Settings = {
    url: service.url,
    token: 'token',
    name: 'bench',
    accelerator: 'cpu',
    memoryGb: 1,
    device: 'cpu',
    labels: {},
    modelRoots: [],
    scratch,
    trainerEntry: join(import.meta.dirname, 'scripted-trainer.ts'),
    uploaderEntry: join(runnerFolder, 'uploader.ts'),
    graderEntry: join(runnerFolder, 'grader.ts'),
    abilities: { languages: [], missing: {} },
    timing: {
      ...defaultTiming,
      claimMs: 50,
      lingerMs: 20,
      killGraceMs: 200,
      exitGraceMs: 300,
      drainMs: 0,
      stopMs: 2_000,
      uploaderSilenceMs: 3_000,
      graderSilenceMs: 10_000,
    },
    ...changes,
  };
  const stopping = new AbortController();
  const ended = new Supervisor(settings, env, stopping.signal, pino({ level: 'silent' })).run();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended.catch(() => undefined);
    await service.stop();
    await dir.remove();
  };
  return {
    service,
    storeDir,
    scratch,
    settings,
    env,
    ended,
    pids: () => JSON.parse(readFileSync(pidFile, 'utf8')) as number[],
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
