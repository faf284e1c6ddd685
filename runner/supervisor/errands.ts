// The loop of errands, beside that of jobs and never behind one: claims what there is room for. Each kind has a grader process of its
// own, so that whoever waits for an answer does not wait for a dataset, and what kills one grader harms no other errand.
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Client } from '../../api/client.ts';
import { pause } from '../../api/client/request.ts';
import type { ErrandClaim, ErrandKind } from '../../api/contract/errand.ts';
import { errandKind } from '../../api/contract/errand.ts';
import type { RegisterResponse } from '../../api/contract/runner.ts';
import { runErrand } from './errand.ts';
import { GraderProcess } from './grader-process.ts';
import type { Settings } from './settings.ts';
import { UploaderProcess } from './uploader-process.ts';

export interface ErrandsOptions {
  readonly settings: Pick<Settings, 'graderEntry' | 'uploaderEntry' | 'timing'>;
  readonly env: NodeJS.ProcessEnv;
  readonly service: Client['runner'];
  /** The runner's folder. */
  readonly scratch: string;
  /** Of the moment: a runner that was forgotten registers again. */
  readonly registration: () => RegisterResponse;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

const claimCallMs = 10_000;

export class Errands {
  readonly #options: ErrandsOptions;
  readonly #graders: ReadonlyMap<ErrandKind, GraderProcess>;
  readonly #running = new Map<ErrandKind, Promise<void>>();

  constructor(options: ErrandsOptions) {
    this.#options = options;
    const { settings, env } = options;
    this.#graders = new Map(
      errandKind.options.map((kind) => [kind, new GraderProcess(settings.graderEntry, env, settings.timing)]),
    );
  }

  /** Runs until stopped; resolves when no child is left. */
  async run(): Promise<void> {
    const { stopping, settings } = this.#options;
    while (!stopping.aborted) {
      const kinds = errandKind.options.filter((kind) => !this.#running.has(kind));
      if (kinds.length === 0) {
        await Promise.race(this.#running.values());
        continue;
      }
      const claimed = await this.#claim(kinds);
      if (!claimed)
        await pause(settings.timing.claimMs * (1 - Math.random() / 4), stopping).catch(() => undefined);
    }
    await Promise.all(this.#running.values());
    await Promise.all([...this.#graders.values()].map((grader) => grader.end()));
  }

  /** False where there was nothing, or no answer. */
  async #claim(kinds: readonly ErrandKind[]): Promise<boolean> {
    const { service, registration, log } = this.#options;
    const heldSince = performance.now();
    const known = registration();
    try {
      const body = { runner: known.runner, kinds: [...kinds] };
      const { claim } = await service.claimErrand(body, { timeoutMs: claimCallMs });
      if (claim !== null) this.#begin(claim, heldSince, known);
      return claim !== null;
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'no answer to a claim of errands; trying again');
      return false;
    }
  }

  #begin(claim: ErrandClaim, heldSince: number, { runner, heartbeat_ms }: RegisterResponse): void {
    const { service, scratch, stopping, settings, env } = this.#options;
    const { kind } = claim.payload;
    const log = this.#options.log.child({ errand: claim.errand, attempt: claim.attempt });
    log.info({ kind }, 'errand claimed');
    const running = runErrand({
      claim,
      service,
      runner,
      grader: this.#graders.get(kind)!,
      uploader: new UploaderProcess(settings.uploaderEntry, env, settings.timing.uploaderSilenceMs),
      heartbeatMs: heartbeat_ms,
      heldSince,
      scratch: join(scratch, `${claim.errand}-a${claim.attempt}`),
      stopMs: settings.timing.stopMs,
      stopping,
      onLine: (text) => log.info(text),
    })
      .catch((error: unknown) => log.error({ err: error }, 'errand'))
      .finally(() => this.#running.delete(kind));
    this.#running.set(kind, running);
  }
}
