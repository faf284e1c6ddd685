// The runner's own loop: register, claim, run the attempt, claim again. One attempt at a time; one uploader for all. Errands have a
// loop of their own beside it.
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { ApiError, createClient } from '../../api/client.ts';
import type { Client } from '../../api/client.ts';
import { backoff, pause } from '../../api/client/request.ts';
import type { Claim, RegisterResponse } from '../../api/contract/runner.ts';
import { PROTOCOL_VERSION } from '../../api/contract/runner.ts';
import { Attempt } from './attempt.ts';
import { attemptCalls } from './calls.ts';
import { Errands } from './errands.ts';
import { makeScratch } from './scratch.ts';
import type { Settings } from './settings.ts';
import { UploaderProcess } from './uploader-process.ts';

/** The service will not have this runner, whenever it asks. */
export class RunnerRefused extends Error {
  override readonly name = 'RunnerRefused';
}

const claimCallMs = 10_000;
const firstPauseMs = 500;

function version(): string {
  const file = resolve(import.meta.dirname, '../../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

export class Supervisor {
  readonly #settings: Settings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #stopping: AbortSignal;
  readonly #hurry: AbortSignal;
  readonly #log: Logger;
  readonly #service: Client['runner'];
  readonly #uploader: UploaderProcess;
  #registration: RegisterResponse | undefined;

  /** `stopping`: when the step at work is done. `hurry`: at once. */
  constructor(
    settings: Settings,
    env: NodeJS.ProcessEnv,
    stopping: AbortSignal,
    log: Logger,
    hurry: AbortSignal = new AbortController().signal,
  ) {
    this.#settings = settings;
    this.#env = env;
    this.#stopping = stopping;
    this.#hurry = hurry;
    this.#log = log;
    this.#service = createClient({ url: settings.url, key: settings.token, tries: 1 }).runner;
    this.#uploader = new UploaderProcess(settings.uploaderEntry, env, settings.timing.uploaderSilenceMs);
  }

  /** Runs until stopped; resolves when no child and no scratch folder is left. Throws RunnerRefused. */
  async run(): Promise<void> {
    const scratch = await makeScratch(this.#settings.scratch);
    const ended = new AbortController();
    let errands: Promise<void> | undefined;
    try {
      for (let registration = await this.#register(); registration !== undefined;) {
        this.#registration = registration;
        errands ??= this.#errands(scratch, AbortSignal.any([this.#stopping, ended.signal])).run();
        const known = await this.#claimAndRun(registration, scratch);
        if (this.#stopping.aborted) return;
        if (!known) registration = await this.#register();
      }
    } finally {
      ended.abort();
      await errands;
      await this.#uploader.close();
      await rm(scratch, { recursive: true, force: true });
    }
  }

  #errands(scratch: string, stopping: AbortSignal): Errands {
    return new Errands({
      settings: this.#settings,
      env: this.#env,
      service: this.#service,
      scratch,
      registration: () => this.#registration!,
      log: this.#log,
      stopping,
    });
  }

  /** Undefined where the runner is stopped before the service answers. */
  async #register(): Promise<RegisterResponse | undefined> {
    const { name, accelerator, memoryGb, labels, abilities } = this.#settings;
    const body = {
      protocol: PROTOCOL_VERSION,
      name,
      accelerator,
      memory_gb: memoryGb,
      labels: { ...labels },
      grader: true,
      languages: [...abilities.languages],
      missing: { ...abilities.missing },
      version: version(),
    };
    for (let failed = 1; !this.#stopping.aborted; failed++) {
      try {
        const registration = await this.#service.register(body);
        this.#log.info({ runner: registration.runner, url: this.#settings.url }, 'registered');
        return registration;
      } catch (error) {
        const refused =
          error instanceof ApiError && error.status < 500 && error.code !== 'unknown' && error.status !== 429;
        if (refused)
          throw new RunnerRefused(`${this.#settings.url} refuses this runner: ${error.message}`, {
            cause: error,
          });
        this.#log.warn({ error: (error as Error).message }, 'the service cannot be reached; trying again');
      }
      await this.#pause(backoff(failed, firstPauseMs));
    }
    return undefined;
  }

  /** One claim and what comes of it; false where the service does not know this runner any more. */
  async #claimAndRun(registration: RegisterResponse, scratch: string): Promise<boolean> {
    const { claimMs } = this.#settings.timing;
    const heldSince = performance.now();
    let claim: Claim | null;
    try {
      ({ claim } = await this.#service.claim({ runner: registration.runner }, { timeoutMs: claimCallMs }));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return false;
      this.#log.warn({ error: (error as Error).message }, 'no answer to a claim; trying again');
      await this.#pause(2 * claimMs);
      return true;
    }
    if (claim !== null) await this.#runAttempt(claim, heldSince, registration, scratch);
    else await this.#pause(claimMs * (1 - Math.random() / 4));
    return true;
  }

  async #runAttempt(
    claim: Claim,
    heldSince: number,
    registration: RegisterResponse,
    scratch: string,
  ): Promise<void> {
    const log = this.#log.child({ job: claim.job, attempt: claim.attempt });
    log.info({ resume: claim.resume?.id ?? null }, 'claimed');
    const { trainerEntry, modelRoots, timing, accelerator, memoryGb, device } = this.#settings;
    await new Attempt({
      claim,
      calls: attemptCalls(this.#service, registration.runner, claim),
      uploader: this.#uploader,
      heartbeatMs: registration.heartbeat_ms,
      heldSince,
      scratch: join(scratch, `${claim.job}-a${claim.attempt}`),
      trainerEntry,
      device: { provider: accelerator, memoryGb, name: device },
      modelRoots,
      env: this.#env,
      timing,
      stopping: this.#stopping,
      hurry: this.#hurry,
      onLine: (text) => log.info(text),
    }).run();
  }

  /** Cut short when the runner is stopped. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, this.#stopping).catch(() => undefined);
  }
}
