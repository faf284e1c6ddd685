// Keeps the service told that this runner serves: registers, beats, registers anew where the service has forgotten it, and
// says goodbye. A service that is away is waited for; one that refuses the token ends the runner.
import type { Logger } from 'pino';
import type { Client } from '../../api/client.ts';
import { ApiError } from '../../api/client.ts';
import { pause } from '../../api/client/request.ts';
import type { ServeRequest } from '../../api/contract/serving.ts';

/** The service does not want this runner: trying again would end alike. */
export class ServingRefused extends Error {
  override readonly name = 'ServingRefused';
}

const fatal = new Set(['unauthorized', 'forbidden', 'protocol_mismatch', 'not_found', 'invalid_spec']);
const againMs = 1_000;

/** Resolves when `stopping` is aborted and the goodbye is said. @throws ServingRefused. */
export async function keepRegistered(
  client: Client,
  request: ServeRequest,
  stopping: AbortSignal,
  log: Logger,
): Promise<void> {
  let serving: string | undefined;
  let beatMs = againMs;
  while (!stopping.aborted) {
    try {
      if (serving === undefined) {
        const answer = await client.runner.serve(request, { signal: stopping });
        serving = answer.serving;
        beatMs = answer.heartbeat_ms;
        log.info({ serving, url: request.url }, 'registered');
      } else {
        await client.runner.servingHeartbeat({ serving }, { signal: stopping, timeoutMs: 10_000 });
      }
    } catch (error) {
      if (stopping.aborted) break;
      if (serving === undefined && error instanceof ApiError && fatal.has(error.code))
        throw new ServingRefused(`the service refuses this runner: ${error.message}`, { cause: error });
      if (error instanceof ApiError && error.code === 'not_found') serving = undefined;
      log.warn(
        { reason: (error as Error).message },
        'the service does not answer as it should: trying again',
      );
    }
    await pause(serving === undefined ? againMs : beatMs, stopping).catch(() => undefined);
  }
  if (serving !== undefined)
    await client.runner.stopServing({ serving }, { timeoutMs: 2_000 }).catch(() => undefined);
}
