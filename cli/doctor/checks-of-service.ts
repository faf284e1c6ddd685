// What the service says of itself, of the key that is used here, and of its runners.
import type { Client } from '../../api/client.ts';
import { ApiError } from '../../api/client.ts';
import type { Check } from '../../api/contract/check.ts';
import type { Runner } from '../../api/contract/runner.ts';
import type { Given } from '../command.ts';
import type { Connection } from '../connection.ts';
import { connect } from '../connection.ts';
import { UserError } from '../user-error.ts';

const patienceMs = 10_000;

export async function* checksOfService(
  given: Given,
  interrupt: AbortSignal,
): AsyncGenerator<Check, void, undefined> {
  let connection: Connection;
  try {
    connection = connect(given, interrupt);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    yield { name: 'service', result: 'skipped', found: error.message, advice: '' };
    return;
  }
  const service = await serviceCheck(connection.options.url);
  yield service;
  if (service.result !== 'ok' && !service.found.startsWith('answers')) return;
  yield* keyAndRunners(connection.client);
}

/** /readyz says what is missing, in words that name no host. */
async function serviceCheck(url: string): Promise<Check> {
  const name = 'service';
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    const found = `answers at ${url}: ${await answer.text()}`;
    if (answer.ok) return { name, result: 'ok', found, advice: '' };
    return { name, result: 'broken', found, advice: 'see its log for what is not ok' };
  } catch (error) {
    const cause = (error as Error).cause;
    const why = cause instanceof Error ? cause.message : (error as Error).message;
    return {
      name,
      result: 'broken',
      found: `does not answer at ${url}: ${why}`,
      advice: 'start it (millrace serve), or set MILLRACE_URL right',
    };
  }
}

async function* keyAndRunners(client: Client): AsyncGenerator<Check, void, undefined> {
  const runners: Runner[] = [];
  try {
    for await (const runner of client.all((query) => client.runners(query))) runners.push(runner);
    yield { name: 'key', result: 'ok', found: 'is known, and may read', advice: '' };
  } catch (error) {
    yield { name: 'key', ...keyFault(error) };
    return;
  }
  const alive = runners.filter((runner) => runner.alive);
  if (alive.length === 0) {
    const found = `none of ${runners.length} is alive: jobs wait`;
    yield { name: 'runners', result: 'broken', found, advice: 'start one: millrace runner' };
  }
  for (const runner of alive) yield runnerCheck(runner);
}

/** A key that may not read is a good key for something else. */
function keyFault(error: unknown): Omit<Check, 'name'> {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 'forbidden')
    return {
      result: 'skipped',
      found: `is known: ${error.message}`,
      advice: 'runners need a key that may read',
    };
  if (error.code === 'unauthorized')
    return {
      result: 'broken',
      found: error.message,
      advice: 'set MILLRACE_KEY right, or make a key: millrace keys create',
    };
  return { result: 'broken', found: error.message, advice: 'see the log of the service' };
}

const runnerCheck = ({ name, accelerator, memory_gb, languages, missing }: Runner): Check => {
  const reasons = Object.entries(missing).map(([language, why]) => `no ${language} (${why})`);
  const code = languages.length === 0 ? 'no code' : `code in ${languages.join(', ')}`;
  return {
    name: `runner ${name}`,
    result: 'ok',
    found: [`alive, ${accelerator}, ${memory_gb} GB, ${code}`, ...reasons].join('; '),
    advice: '',
  };
};
